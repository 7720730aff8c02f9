//! Laws that hold for all terms, on random ones with a fixed seed; and inputs that stock refuses or reads in a special way.

use heddle_term::etf::{self, DecodeOptions, EncodeOptions};
use heddle_term::text::float_parse;
use heddle_term::{Atom, Heap, Term, big, hash, map, order};

struct Random(u64);
impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

/// Few different leaves, so that equal and nearly equal terms come up often.
fn random_term(heap: &mut Heap, random: &mut Random, depth: u64) -> Term {
    let parts = |heap: &mut Heap, random: &mut Random| -> Vec<Term> {
        (0..random.below(4)).map(|_| random_term(heap, random, depth - 1)).collect()
    };
    match random.below(if depth == 0 { 9 } else { 14 }) {
        0 | 1 => Term::small(random.below(3) as i64 - 1),
        2 => heap.float([0.0, -0.0, 1.0, 1.5, 9007199254740992.0, 1.0e25][random.below(6) as usize]),
        3 => Term::atom(Atom::new(["b", "a", "é"][random.below(3) as usize])),
        4 => Term::NIL,
        5 => {
            let one = Term::small(1);
            let power = big::bsl(heap, one, Term::small([53, 59, 64, 100][random.below(4) as usize])).unwrap();
            big::add(heap, power, Term::small(random.below(2) as i64)).unwrap()
        }
        6 | 7 => {
            let bits = [0, 3, 8, 12, 600][random.below(5) as usize];
            let bytes = vec![[0u8, 0x80][random.below(2) as usize]; (bits as usize).div_ceil(8)];
            let whole = heap.bits(&bytes, bits);
            // The same bits, seen through a slice at an odd place.
            if random.below(2) == 0 {
                whole
            } else {
                let mut shifted = vec![0u8; bytes.len() + 1];
                bytes.iter().enumerate().for_each(|(i, b)| {
                    shifted[i] |= b >> 3;
                    shifted[i + 1] |= b << 5;
                });
                let original = heap.binary(&shifted);
                heap.sub_bits(original, 3, bits)
            }
        }
        8 => heap.reference([random.below(2) as u32, 0, 1]),
        9 | 10 => {
            let parts = parts(heap, random);
            heap.tuple(&parts)
        }
        11 => {
            let parts = parts(heap, random);
            let tail = if random.below(3) == 0 { Term::small(1) } else { Term::NIL };
            heap.list_with_tail(&parts, tail)
        }
        _ => {
            let mut pairs: Vec<(Term, Term)> = Vec::new();
            let extra = if random.below(4) == 0 { 33 } else { 0 };
            for i in 0..extra {
                pairs.push((heap.tuple(&[Term::small(i)]), Term::small(i)));
            }
            for _ in 0..random.below(3) {
                pairs.push((random_term(heap, random, depth - 1), random_term(heap, random, depth - 1)));
            }
            map::from_pairs(heap, &pairs)
        }
    }
}

#[test]
fn orders_are_total_and_agree() {
    let mut random = Random(0x00dd_ba11);
    let mut heap = Heap::new();
    let terms: Vec<Term> = (0..250).map(|_| random_term(&mut heap, &mut random, 3)).collect();
    for &a in &terms {
        for &b in &terms {
            let (order, exact) = (order::cmp(a, b), order::cmp_exact(a, b));
            assert_eq!(order, order::cmp(b, a).reverse(), "{a:?} {b:?}");
            assert_eq!(exact, order::cmp_exact(b, a).reverse(), "{a:?} {b:?}");
            assert_eq!(order.is_eq(), order::eq(a, b), "{a:?} {b:?}");
            assert_eq!(exact.is_eq(), order::exact_eq(a, b), "{a:?} {b:?}");
            if exact.is_eq() {
                assert!(order.is_eq() && hash::internal_hash(a) == hash::internal_hash(b), "{a:?} {b:?}");
                assert_eq!(hash::phash2(a, 1 << 32), hash::phash2(b, 1 << 32));
            } else {
                assert_ne!(hash::internal_hash(a), hash::internal_hash(b), "{a:?} {b:?}");
            }
        }
    }
    let mut sorted = terms.clone();
    sorted.sort_by(|a, b| order::cmp_exact(*a, *b));
    for (i, &a) in sorted.iter().enumerate() {
        for &b in &sorted[i..] {
            assert!(order::cmp_exact(a, b).is_le(), "not transitive: {a:?} {b:?}");
        }
    }
    heap.clear();
}

#[test]
fn encoding_round_trip() {
    let mut random = Random(4711);
    for _ in 0..3000 {
        let mut heap = Heap::new();
        let term = random_term(&mut heap, &mut random, 4);
        let plain = EncodeOptions::default();
        for options in [plain, EncodeOptions { compressed: Some(9), ..plain }, EncodeOptions { local: true, ..plain }] {
            let bytes = etf::encode(term, &options);
            let back = etf::decode(&mut heap, &bytes, &DecodeOptions::default()).unwrap();
            assert!(order::exact_eq(term, back.term) && back.used == bytes.len());
        }
        assert_eq!(etf::external_size(term, &plain), etf::encode(term, &plain).len());
        let copied = heap.copy(term);
        assert!(order::exact_eq(term, copied));
        heap.clear();
    }
}

#[test]
fn refused_and_odd_inputs() {
    let mut heap = Heap::new();
    let options = DecodeOptions { allow_trailing: true, ..Default::default() };
    let refused: &[&[u8]] = &[
        &[],
        &[131],
        &[130, 106],
        &[131, 77, 0, 0, 0, 1, 0, 255],
        &[131, 77, 0, 0, 0, 0, 0],
        &[131, 77, 0, 0, 0, 1, 9, 255],
        &[131, 116, 0, 0, 0, 2, 97, 1, 97, 1, 97, 1, 97, 2],
        &[131, 118, 0, 2, 195, 40],
        &[131, 119, 1, 195],
        &[131, 70, 127, 240, 0, 0, 0, 0, 0, 0],
        &[131, 80, 0, 0, 0, 5, 1, 2, 3],
        &[131, 108, 255, 255, 255, 255, 106],
        &[131, 105, 255, 255, 255, 255, 106],
        &[131, 116, 255, 255, 255, 255, 106],
        &[131, 109, 255, 255, 255, 255, 106],
        &[131, 111, 255, 255, 255, 255, 0, 1],
        &[131, 117],
    ];
    for input in refused {
        assert!(etf::decode(&mut heap, input, &options).is_err(), "{input:?}");
    }
    let trailing = etf::decode(&mut heap, &[131, 97, 1, 97, 2], &options).unwrap();
    assert_eq!((trailing.term, trailing.used), (Term::small(1), 3));
    let tail_only = etf::decode(&mut heap, &[131, 108, 0, 0, 0, 0, 97, 5], &options).unwrap();
    assert_eq!(tail_only.term, Term::small(5));
    let zero = etf::decode(&mut heap, &[131, 110, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &options).unwrap();
    assert_eq!(zero.term, Term::small(0));
    let safe = DecodeOptions { safe: true, ..options };
    assert_eq!(etf::decode(&mut heap, b"\x83w\x0bnever heard", &safe).unwrap_err(), etf::DecodeError::Unsafe);
    // Nested counts that each claim all that is left must not add up.
    let mut nested = vec![131];
    for left in (0..100_000u32).rev() {
        nested.push(108);
        nested.extend_from_slice(&(left * 5).to_be_bytes());
    }
    assert!(etf::decode(&mut heap, &nested, &options).is_err());
    assert!(heap.fragment_words < 20 * nested.len());
    heap.clear();
}

#[test]
fn float_syntax() {
    let good = [("1.0", 1.0), ("+1.0", 1.0), ("-1.5E+5", -1.5e5), ("1.0e-400", 0.0), ("00001.5", 1.5), ("1,0", 1.0)];
    for (text, value) in good {
        assert_eq!(float_parse::parse(text.as_bytes()), Some(value), "{text}");
    }
    for text in ["1e5", ".5", "1.", "1.0e", "1.0e400", "1.0 ", " 1.0", "1_0.0", "inf", "nan", "1.0e+", "--1.0", "", "1.0.0", "0x1.0"] {
        assert_eq!(float_parse::parse(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn integer_limits() {
    let mut heap = Heap::new();
    let one = Term::small(1);
    assert!(big::bsl(&mut heap, one, Term::small(4_194_239)).is_ok());
    assert_eq!(big::bsl(&mut heap, one, Term::small(4_194_240)), Err(big::ArithError::SystemLimit));
    assert_eq!(big::bsl(&mut heap, one, Term::small(1 << 50)), Err(big::ArithError::SystemLimit));
    assert_eq!(big::bsl(&mut heap, Term::small(0), Term::small(1 << 50)), Ok(Term::small(0)));
    assert_eq!(big::bsr(&mut heap, Term::small(-5), Term::small(1 << 50)), Ok(Term::small(-1)));
    let largest = big::bsl(&mut heap, one, Term::small(4_194_239)).unwrap();
    assert_eq!(big::mul(&mut heap, largest, Term::small(2)), Err(big::ArithError::SystemLimit));
    assert_eq!(big::add(&mut heap, largest, largest), Err(big::ArithError::SystemLimit));
    assert_eq!(big::from_text(&mut heap, &b"9".repeat(1_300_000), 10), Some(Err(big::ArithError::SystemLimit)));
    assert_eq!(big::from_text(&mut heap, &b"0".repeat(1_300_000), 10), Some(Ok(Term::small(0))));
    assert_eq!(big::to_f64(largest), None);
    heap.clear();
}
