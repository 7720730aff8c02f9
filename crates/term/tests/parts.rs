//! Encodings in parts: with large binaries left out, and in steps.

use heddle_term::bits::BitsView;
use heddle_term::code_hooks::{FunKey, hooks};
use heddle_term::etf::{self, AtomBudget, DecodeError, DecodeOptions, EncodeOptions, Parts, PartsEncoder, Step, WholeAtoms};
use heddle_term::refbin::RefBin;
use heddle_term::{Atom, Heap, Term, fun, map};

/// A fun with these free variables.
fn fun_with(heap: &mut Heap, free: &[Term]) -> Term {
    let module = Atom::new("a_module");
    let num_free = free.len() as u32;
    let key = FunKey { module, uniq: [7; 16], index: 1, old_index: 1, old_uniq: 99, arity: 2, num_free };
    let entry = (hooks().find_fun_entry)(&key);
    fun::make(heap, entry, Term::local_pid(5), free)
}

/// Terms with large binaries at all kinds of places.
fn terms(heap: &mut Heap) -> Vec<Term> {
    let large = heap.binary(&[b'x'; 300]);
    let part = heap.sub_bits(large, 80, 1503);
    let odd = heap.sub_bits(large, 3, 1600);
    let inner = fun_with(heap, &[large, part, Term::NIL]);
    let outer = fun_with(heap, &[part, inner, odd]);
    let list: Vec<Term> = (0..5000).map(|n| if n == 2000 { large } else { Term::small(n) }).collect();
    let improper = heap.list_with_tail(&list, part);
    let list = heap.list(&list);
    let string = heap.byte_list(&[9; 65_535]);
    let too_long = heap.byte_list(&[9; 65_536]);
    let pairs: Vec<(Term, Term)> = (0..100).map(|n| (Term::small(n), large)).collect();
    let map = map::from_pairs(heap, &pairs);
    let all = heap.tuple(&[large, outer, list, map, string, large]);
    vec![large, part, odd, inner, outer, list, improper, string, too_long, map, all]
}

/// The encoding with what was left out.
fn whole(bytes: &[u8], cuts: &[(usize, Term)]) -> Vec<u8> {
    let mut whole = Vec::new();
    let mut from = 0;
    for &(at, bits) in cuts {
        whole.extend_from_slice(&bytes[from..at]);
        let view = BitsView::of(bits).unwrap();
        whole.extend_from_slice(&view.to_vec()[..(view.size_bits / 8) as usize]);
        from = at;
    }
    whole.extend_from_slice(&bytes[from..]);
    whole
}

#[test]
fn what_is_left_out_belongs_where_it_is_said() {
    let mut heap = Heap::new();
    for term in terms(&mut heap) {
        let (bytes, cuts) = etf::encode_parts(term, &EncodeOptions::default(), usize::MAX).unwrap();
        assert!(whole(&bytes, &cuts) == etf::encode(term, &EncodeOptions::default()), "{term:?}");
    }
    heap.clear();
}

/// Nothing is written to the binary, so the operating system gives no memory for it.
#[test]
fn binaries_whose_length_does_not_fit_are_not_encoded() {
    let mut heap = Heap::new();
    let size = u32::MAX as usize + 1;
    let binary = heap.bin_ref(RefBin::allocate(size), 8 * size as u64);
    let all = heap.list(&[Term::small(1), binary]);
    for compressed in [None, Some(6)] {
        for (local, term) in [(false, binary), (true, binary), (false, all)] {
            let options = EncodeOptions { compressed, local, ..EncodeOptions::default() };
            assert!(etf::try_encode(term, &options).is_none());
            assert_eq!(etf::encode_parts(term, &options, usize::MAX).err(), Some(etf::Unencoded::TooLarge));
        }
    }
    let shorter = heap.sub_bits(binary, 0, 8 * u64::from(u32::MAX));
    assert!(etf::encode_parts(shorter, &EncodeOptions::default(), usize::MAX).is_ok());
    heap.clear();
}

#[test]
fn steps_of_any_length_write_the_same() {
    let mut heap = Heap::new();
    for term in terms(&mut heap) {
        let plain = etf::encode(term, &EncodeOptions::default());
        for budget_bytes in [0, 7, 1000, usize::MAX] {
            let mut encoder = PartsEncoder::new(WholeAtoms::default(), 0);
            encoder.writer().u8(etf::VERSION);
            encoder.begin(term);
            while encoder.step(budget_bytes) == Step::More {}
            assert_eq!(encoder.len_bytes(), plain.len());
            let Parts { bytes, cuts, cut_bytes, .. } = encoder.finish().unwrap();
            assert_eq!(bytes.len() + cut_bytes, plain.len());
            assert!(whole(&bytes, &cuts) == plain, "{term:?}");
        }
    }
    heap.clear();
}

#[test]
fn new_atoms_of_a_term_are_paid_for_before_they_are_made() {
    let mut heap = Heap::new();
    let decode = |heap: &mut Heap, bytes: &[u8], budget: &AtomBudget| {
        let options = DecodeOptions { atom_budget: Some(budget), ..Default::default() };
        etf::decode(heap, bytes, &options).map(|_| budget.left())
    };
    let budget = AtomBudget::new(1);
    assert_eq!(decode(&mut heap, b"\x83w\x02ok", &budget), Ok(1));
    assert_eq!(decode(&mut heap, b"\x83w\x0anever seen", &budget), Ok(0));
    assert_eq!(decode(&mut heap, b"\x83w\x0anever seen", &budget), Ok(0));
    assert_eq!(decode(&mut heap, b"\x83d\0\x0aseen never", &budget), Err(DecodeError::AtomBudget));
    assert_eq!(Atom::existing("seen never"), None);
    let long = [&b"\x83v\x01\0"[..], &[b'x'; 256]].concat();
    let budget = AtomBudget::new(1);
    assert_eq!(decode(&mut heap, &long, &budget), Err(DecodeError::SystemLimit));
    assert_eq!(budget.left(), 1);
    heap.clear();
}
