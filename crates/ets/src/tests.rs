//! Stores and match specifications on their own, without a running VM.

use super::hash_store::{Copies, HashStore, place_of};
use super::object::{Change, Owned, Verdict};
use super::tree_store::{Point, Range, TreeStore};
use heddle_natives::spec::eval::Env;
use heddle_natives::spec::{Form, Program};
use heddle_runtime::level::Priority;
use heddle_runtime::process::{MaxHeap, Process, SpawnOptions};
use heddle_term::code_cell::Mfa;
use heddle_term::order::exact_eq;
use heddle_term::text::display::to_string;
use heddle_term::{Atom, Heap, Term, am, map};
use std::sync::atomic::Ordering;

fn atom(name: &str) -> Term {
    Atom::new(name).into()
}

fn pair(heap: &mut Heap, key: i64, value: i64) -> Term {
    heap.tuple(&[Term::small(key), Term::small(value)])
}

fn stored(heap: &mut Heap, key: i64, value: i64) -> Owned {
    let tuple = pair(heap, key, value);
    Owned::new(tuple, 0, place_of(tuple.slot(0)))
}

fn process() -> Process {
    let options = SpawnOptions {
        priority: Priority::Normal,
        min_heap_words: 233,
        min_vheap_words: 46422,
        fullsweep_after: 65535,
        max_heap: MaxHeap::NONE,
        off_heap_messages: false,
        async_dist: false,
        place: heddle_runtime::place::Place::Anywhere,
    };
    Process::blank(Mfa { module: am::ERLANG, function: am::APPLY, arity: 2 }, Term::NIL, 0, &options)
}

fn value(store: &HashStore, key: i64) -> Option<i64> {
    let mut found = None;
    store.with_key(Term::small(key), |o| found = o.elements()[1].as_small());
    found
}

#[test]
fn hash_store_keeps_one_object_a_key() {
    let mut heap = Heap::new();
    let store = HashStore::new(4, Copies::One);
    for n in 0..5000 {
        store.insert(stored(&mut heap, n, n));
        store.insert(stored(&mut heap, n, 2 * n));
    }
    assert_eq!(store.size(), 5000);
    assert!((0..5000).all(|n| value(&store, n) == Some(2 * n)));
    for n in 0..4990 {
        assert_eq!(store.remove(Term::small(n), |_| true), 1);
    }
    assert_eq!((store.size(), value(&store, 4), value(&store, 4995)), (10, None, Some(9990)));
    assert_eq!(store.clear().0, 10);
    heap.clear();
}

#[test]
fn traversal_sees_every_object_once_while_the_table_grows_and_shrinks() {
    let mut heap = Heap::new();
    let store = HashStore::new(2, Copies::One);
    (0..1000).for_each(|n| store.insert(stored(&mut heap, n, 0)));
    let mut seen = vec![0; 1000];
    let (mut place, mut rounds) = (Some(0), 0);
    while let Some(from) = place {
        let mut left = 7;
        place = store.scan(from, |o| {
            if let Some(n @ 0..1000) = o.key.as_small() {
                seen[n as usize] += 1;
            }
            left -= 1;
            left == 0
        });
        rounds += 1;
        for n in 0..50 {
            let key = 1000 + rounds * 50 + n;
            store.insert(stored(&mut heap, key, 0));
            if rounds % 20 > 10 {
                store.remove(Term::small(key - 500), |o| o.key.as_small() >= Some(1000));
            }
        }
    }
    assert!(seen.iter().all(|&n| n == 1));
    heap.clear();
}

#[test]
fn next_goes_on_after_a_key_that_is_gone() {
    let mut heap = Heap::new();
    let store = HashStore::new(0, Copies::One);
    (0..100).for_each(|n| store.insert(stored(&mut heap, n, 0)));
    let mut present = true;
    let (mut key, mut count) = (store.next(None, &mut present, |o| o.key), 0);
    while let Some(k) = key {
        store.remove(k, |_| true);
        count += 1;
        key = store.next(Some(k), &mut present, |o| o.key);
        assert!(!present);
    }
    assert_eq!((count, store.size()), (100, 0));
    heap.clear();
}

#[test]
fn bags_keep_the_order_of_insertion() {
    let mut heap = Heap::new();
    for (copies, wanted) in [(Copies::Distinct, vec![1, 2, 3]), (Copies::Any, vec![1, 2, 1, 3])] {
        let store = HashStore::new(4, copies);
        [1, 2, 1, 3].into_iter().for_each(|v| store.insert(stored(&mut heap, 7, v)));
        let mut values = Vec::new();
        store.with_key(Term::small(7), |o| values.insert(0, o.elements()[1].small_value()));
        assert_eq!(values, wanted);
        let ones = store.remove(Term::small(7), |o| o.elements()[1] == Term::small(1));
        assert_eq!(ones, wanted.iter().filter(|&&v| v == 1).count());
    }
    heap.clear();
}

#[test]
fn all_or_none_of_the_new() {
    let mut heap = Heap::new();
    let store = HashStore::new(6, Copies::One);
    let some = (0..100).map(|n| stored(&mut heap, n, 1)).collect();
    assert_eq!(store.insert_all(some, true, || true), Some(true));
    let overlapping = (99..200).map(|n| stored(&mut heap, n, 2)).collect();
    assert_eq!(store.insert_all(overlapping, true, || true), Some(false));
    let others = (300..310).map(|n| stored(&mut heap, n, 2)).collect();
    assert_eq!(store.insert_all(others, true, || false), None);
    assert_eq!((store.size(), value(&store, 99)), (100, Some(1)));
    heap.clear();
}

#[test]
fn deleting_and_replacing_in_a_traversal() {
    let mut heap = Heap::new();
    let store = HashStore::new(4, Copies::One);
    (0..1000).for_each(|n| store.insert(stored(&mut heap, n, n)));
    let end = store.scan_write(0, |o| {
        let n = o.key.small_value();
        let verdict = match n % 3 {
            0 => Verdict::Delete,
            1 => Verdict::Replace(stored(&mut heap, n, -n)),
            _ => Verdict::Keep,
        };
        (verdict, false)
    });
    assert_eq!((end, store.size()), (None, 666));
    assert_eq!((value(&store, 3), value(&store, 4), value(&store, 5)), (None, Some(-4), Some(5)));
    heap.clear();
}

#[test]
fn numbers_are_equal_by_value_in_trees_only() {
    let mut heap = Heap::new();
    let tree = TreeStore::new(true);
    let one = heap.float(1.0);
    for key in [Term::small(1), one] {
        let tuple = heap.tuple(&[key]);
        tree.insert(Owned::new(tuple, 0, 0));
    }
    assert_eq!(tree.size(), 1);
    assert!(tree.next(None, false, |o| o.key.is_float()).unwrap());
    tree.update(Term::small(1), |o| {
        assert!(o.is_some());
        Change::Nothing
    });
    heap.clear();
}

/// A queue: keys come at one end and go at the other.
#[test]
fn pieces_that_are_visited_no_more_do_not_stay() {
    let store = TreeStore::new(true);
    let mut heap = Heap::new();
    for key in 0..2000 {
        store.force_split.store(true, Ordering::Relaxed);
        store.insert(stored(&mut heap, key, 0));
        store.force_split.store(false, Ordering::Relaxed);
        assert_eq!(store.remove(Term::small(key - 10), |_| true), (key >= 10) as usize);
        assert!(store.pieces().unwrap().0 < 50, "{:?}", store.pieces());
    }
    assert_eq!(store.size(), 10);
}

#[test]
fn a_partly_bound_key_is_a_range() {
    let mut heap = Heap::new();
    let tree = TreeStore::new(true);
    for name in ["a", "b", "c"] {
        for n in 0..10 {
            let key = heap.tuple(&[atom(name), Term::small(n)]);
            let tuple = heap.tuple(&[key]);
            tree.insert(Owned::new(tuple, 0, 0));
        }
    }
    for other in [Term::small(5), Term::NIL, atom("z")] {
        let tuple = heap.tuple(&[other]);
        tree.insert(Owned::new(tuple, 0, 0));
    }
    let key = heap.tuple(&[atom("b"), atom("_")]);
    let program = Program::borrowed(key, Form::MatchObject).unwrap();
    let pattern = &program.clauses[0].head;
    let range = Range { low: Some(Point::Below(pattern)), high: Some(Point::Above(pattern)) };
    let mut seen = Vec::new();
    assert!(tree.scan(range, None, false, |o| {
        seen.push(to_string(o.key));
        false
    }));
    assert_eq!(seen.len(), 10);
    assert_eq!((seen[0].as_str(), seen[9].as_str()), ("{b,0}", "{b,9}"));
    heap.clear();
}

/// Result of a one-clause specification, as text.
fn run(p: &mut Process, head: Term, guards: &[Term], body: Term, object: Term) -> Option<String> {
    let guards = p.heap.list(guards);
    let body = p.heap.list(&[body]);
    let clause = p.heap.tuple(&[head, guards, body]);
    let spec = p.heap.list(&[clause]);
    let program = Program::owned(spec, Form::Spec).ok()?;
    let result = program.run(p, &mut Env::default(), object);
    Some(result.map_or("no".into(), to_string))
}

#[test]
fn specifications_run() {
    let p = &mut process();
    let (v1, v2) = (atom("$1"), atom("$2"));
    let object = pair(&mut p.heap, 3, 4);
    let head = p.heap.tuple(&[v1, v2]);
    let less = p.heap.tuple(&[atom("<"), v1, v2]);
    let more = p.heap.tuple(&[atom(">"), v1, v2]);
    let fails = p.heap.tuple(&[atom("hd"), v1]);
    let tuple = p.heap.tuple(&[v2, fails]);
    let tuple = p.heap.tuple(&[tuple]);
    let constant = p.heap.tuple(&[atom("const"), v1]);
    let either = p.heap.tuple(&[atom("orelse"), less, fails]);
    let both = p.heap.tuple(&[atom("and"), less, fails]);
    assert_eq!(run(p, head, &[less], atom("$_"), object).as_deref(), Some("{3,4}"));
    assert_eq!(run(p, head, &[more], atom("$_"), object).as_deref(), Some("no"));
    assert_eq!(run(p, head, &[], atom("$$"), object).as_deref(), Some("[3,4]"));
    assert_eq!(run(p, head, &[], tuple, object).as_deref(), Some("{4,'EXIT'}"));
    assert_eq!(run(p, head, &[], constant, object).as_deref(), Some("'$1'"));
    assert_eq!(run(p, head, &[either], v1, object).as_deref(), Some("3"));
    assert_eq!(run(p, head, &[both], v1, object).as_deref(), Some("no"));
    assert_eq!(run(p, head, &[], atom("$7"), object), None);
    let same = p.heap.tuple(&[v1, v1]);
    assert_eq!(run(p, same, &[], v1, object).as_deref(), Some("no"));
    p.heap.clear();
}

#[test]
fn maps_in_heads_need_their_keys_only() {
    let p = &mut process();
    let one = map::put(&mut p.heap, map::empty(), atom("k"), Term::small(1));
    let two = map::put(&mut p.heap, one, atom("l"), Term::small(2));
    let head = map::put(&mut p.heap, map::empty(), atom("k"), atom("$1"));
    assert_eq!(run(p, head, &[], atom("$1"), two).as_deref(), Some("1"));
    assert_eq!(run(p, map::empty(), &[], atom("yes"), two).as_deref(), Some("yes"));
    assert_eq!(run(p, two, &[], atom("yes"), one).as_deref(), Some("no"));
    p.heap.clear();
}

#[test]
fn absurd_depth_is_refused_and_long_lists_are_not() {
    let p = &mut process();
    let mut deep = atom("$1");
    for _ in 0..100_000 {
        deep = p.heap.tuple(&[deep]);
    }
    assert!(Program::borrowed(deep, Form::Match).is_err());
    let long: Vec<Term> = (0..100_000).map(|_| atom("_")).collect();
    let long = p.heap.list(&long);
    let program = Program::borrowed(long, Form::MatchObject).unwrap();
    let result = program.run(p, &mut Env::default(), long).unwrap();
    assert!(exact_eq(result, long));
    p.heap.clear();
}
