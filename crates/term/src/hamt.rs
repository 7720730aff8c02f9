//! Maps of more than 32 keys: hash array mapped tries. A node has a bitmap of 16 and a child for every bit; a child is a node
//! or a pair `[Key | Value]`. Four bits of the key's hash choose the child at each level.
//!
//! The shape is canonical: it depends on the set of keys only. Nodes below the root hold at least two pairs. After sixteen
//! levels the 64 hash bits are used up and the key is hashed anew with the next salt, so two keys whose hashes collide under
//! one salt part under another; there is no other collision node. The functions here recurse over levels of the trie, not
//! over terms: the depth is that of the longest common hash prefix.

use crate::boxed::{Header, Kind};
use crate::hash::salted_hash;
use crate::heap::Heap;
use crate::map::{self, FLAT_MAX};
use crate::map_iter::MapIter;
use crate::order::exact_eq;
use crate::term::Term;

const BITS: u32 = 4;
const LEVELS_PER_HASH: u32 = 16;

/// A key's way down: its hash, of which the low bits are those of the current level.
#[derive(Clone, Copy)]
struct Way {
    key: Term,
    hash: u64,
    level: u32,
}

impl Way {
    #[inline(always)]
    fn new(key: Term) -> Way {
        Way { key, hash: salted_hash(key, 0), level: 0 }
    }
    /// The way of another key from a given level on.
    fn at_level(key: Term, level: u32) -> Way {
        let hash = salted_hash(key, (level / LEVELS_PER_HASH) as u64) >> (BITS * (level % LEVELS_PER_HASH));
        Way { key, hash, level }
    }
    #[inline(always)]
    fn number(self) -> u32 {
        (self.hash & 15) as u32
    }
    #[inline(always)]
    fn down(self) -> Way {
        let level = self.level + 1;
        if level.is_multiple_of(LEVELS_PER_HASH) {
            return Way::at_level(self.key, level);
        }
        Way { hash: self.hash >> BITS, level, ..self }
    }
}

#[inline(always)]
fn children<'a>(node: Term) -> (u32, &'a [Term]) {
    let header = node.header();
    let first = (header.kind() == Kind::HashMap) as usize;
    // SAFETY: all words after the header (and the root's size) are children.
    let slice = unsafe { std::slice::from_raw_parts(node.ptr().add(1 + first).cast::<Term>(), header.arity() - first) };
    (header.aux(), slice)
}

/// Bitmap of a node with all children, as those near the root of a large map mostly are.
const FULL: u32 = 0xffff;

#[inline(always)]
fn index(bitmap: u32, number: u32) -> usize {
    if bitmap == FULL {
        return number as usize;
    }
    (bitmap & ((1 << number) - 1)).count_ones() as usize
}

pub fn get(map: Term, key: Term) -> Option<Term> {
    let mut way = Way::new(key);
    let mut node = map;
    loop {
        let (bitmap, slots) = children(node);
        let number = way.number();
        if bitmap >> number & 1 == 0 {
            return None;
        }
        let child = slots[index(bitmap, number)];
        if child.is_cons() {
            return exact_eq(child.head(), key).then(|| child.tail());
        }
        node = child;
        way = way.down();
    }
}

/// What must be true of a trie: as many children as its bitmaps have bits, as many pairs as it says and more than a flat map has, and two at least
/// below each node but the root.
#[cfg(test)]
pub(crate) fn check(map: Term) {
    fn pairs(node: Term) -> usize {
        let (bitmap, slots) = children(node);
        assert!(bitmap.count_ones() as usize == slots.len() && bitmap >> 16 == 0);
        slots.iter().map(|child| if child.is_cons() { 1 } else { pairs(*child) }).inspect(|&below| assert!(below > 0)).sum()
    }
    fn below(node: Term) {
        for &child in children(node).1.iter().filter(|child| !child.is_cons()) {
            assert!(child.header().kind() == Kind::HashNode && pairs(child) >= 2);
            below(child);
        }
    }
    assert_eq!(map.slot(0), Term::small(pairs(map) as i64));
    assert!(pairs(map) > FLAT_MAX);
    below(map);
}

fn make_node(heap: &mut Heap, bitmap: u32, slots: &[Term]) -> Term {
    let ptr = heap.alloc(1 + slots.len());
    // SAFETY: room for header and children was just allocated.
    unsafe {
        *ptr = Header::with_aux(Kind::HashNode, slots.len(), bitmap).raw();
        std::ptr::copy_nonoverlapping(slots.as_ptr().cast::<u64>(), ptr.add(1), slots.len());
    }
    Term::boxed(ptr)
}

fn make_root(heap: &mut Heap, bitmap: u32, slots: &[Term], size: usize) -> Term {
    let ptr = heap.alloc(2 + slots.len());
    // SAFETY: room for header, size and children was just allocated.
    unsafe {
        *ptr = Header::with_aux(Kind::HashMap, 1 + slots.len(), bitmap).raw();
        *ptr.add(1) = Term::small(size as i64).raw();
        std::ptr::copy_nonoverlapping(slots.as_ptr().cast::<u64>(), ptr.add(2), slots.len());
    }
    Term::boxed(ptr)
}

/// A node's children in hand, to change and write out again.
struct Draft {
    bitmap: u32,
    slots: [Term; 16],
    len: usize,
}

impl Draft {
    fn of(node: Term) -> Draft {
        let (bitmap, children) = children(node);
        let mut slots = [Term::NIL; 16];
        slots[..children.len()].copy_from_slice(children);
        Draft { bitmap, slots, len: children.len() }
    }
    fn insert(&mut self, number: u32, child: Term) {
        let at = index(self.bitmap, number);
        self.slots.copy_within(at..self.len, at + 1);
        self.slots[at] = child;
        self.bitmap |= 1 << number;
        self.len += 1;
    }
    fn remove(&mut self, number: u32) {
        let at = index(self.bitmap, number);
        self.slots.copy_within(at + 1..self.len, at);
        self.bitmap &= !(1 << number);
        self.len -= 1;
    }
    fn children(&self) -> &[Term] {
        &self.slots[..self.len]
    }
    fn node(&self, heap: &mut Heap) -> Term {
        make_node(heap, self.bitmap, self.children())
    }
}

/// The smallest subtree that holds two pairs with different keys, from the ways of both at its level.
fn split(heap: &mut Heap, a: Way, a_pair: Term, b: Way, b_pair: Term) -> Term {
    let (x, y) = (a.number(), b.number());
    if x == y {
        let below = split(heap, a.down(), a_pair, b.down(), b_pair);
        return make_node(heap, 1 << x, &[below]);
    }
    let slots = if x < y { [a_pair, b_pair] } else { [b_pair, a_pair] };
    make_node(heap, 1 << x | 1 << y, &slots)
}

/// How an insertion treats a key that is already there, and whether it was.
struct Insertion {
    replace: bool,
    found: bool,
}

/// `child` with `pair` in it; the same child if nothing changes.
fn insert(heap: &mut Heap, child: Term, way: Way, pair: Term, insertion: &mut Insertion) -> Term {
    if child.is_cons() {
        if exact_eq(child.head(), way.key) {
            insertion.found = true;
            return if insertion.replace && child.tail() != pair.tail() { pair } else { child };
        }
        return split(heap, Way::at_level(child.head(), way.level), child, way, pair);
    }
    match insert_in(heap, child, way, pair, insertion) {
        Some(draft) => draft.node(heap),
        None => child,
    }
}

fn insert_in(heap: &mut Heap, node: Term, way: Way, pair: Term, insertion: &mut Insertion) -> Option<Draft> {
    let (bitmap, slots) = children(node);
    let number = way.number();
    if bitmap >> number & 1 == 0 {
        let mut draft = Draft::of(node);
        draft.insert(number, pair);
        return Some(draft);
    }
    let at = index(bitmap, number);
    let new = insert(heap, slots[at], way.down(), pair, insertion);
    if new == slots[at] {
        return None;
    }
    let mut draft = Draft::of(node);
    draft.slots[at] = new;
    Some(draft)
}

/// Nodes on the way to a key for which `put_near` has room: enough for a million keys, and more in most cases.
const NEAR_LEVELS: usize = 8;

/// The map with a value for a key; None if the way is longer than that. Each node on the way is copied once.
fn put_near(heap: &mut Heap, map: Term, mut way: Way, value: Term) -> Option<Term> {
    let mut path = [(Term::NIL, 0); NEAR_LEVELS];
    let mut node = map;
    for depth in 0..NEAR_LEVELS {
        let (bitmap, slots) = children(node);
        let number = way.number();
        let at = index(bitmap, number);
        // Words before the children: the header, and the size of a root.
        let word = at + 1 + (depth == 0) as usize;
        if bitmap >> number & 1 == 0 {
            let pair = heap.cons(way.key, value);
            let grown = with_child(heap, node, word, number, pair);
            return Some(grown_map(heap, map, &path[..depth], grown));
        }
        let child = slots[at];
        path[depth] = (node, word);
        if child.is_cons() {
            if !exact_eq(child.head(), way.key) {
                let pair = heap.cons(way.key, value);
                let below = way.down();
                let both = split(heap, Way::at_level(child.head(), below.level), child, below, pair);
                return Some(grown_map(heap, map, &path[..=depth], both));
            }
            if child.tail() == value {
                return Some(map);
            }
            let pair = heap.cons(way.key, value);
            return Some(with_path(heap, &path[..=depth], pair));
        }
        node = child;
        way = way.down();
    }
    None
}

/// Copies of the nodes of a path, the first of which is the root: each refers to the next, and the last to `new`.
fn with_path(heap: &mut Heap, path: &[(Term, usize)], new: Term) -> Term {
    path.iter().rev().fold(new, |new, &(node, word)| with_word(heap, node, word, new))
}

/// The same, where the map has one key more then.
fn grown_map(heap: &mut Heap, map: Term, path: &[(Term, usize)], new: Term) -> Term {
    let root = with_path(heap, path, new);
    // SAFETY: the root is a copy that was just made; its size is the word after the header.
    unsafe { *root.ptr().add(1) = Term::small(map::size(map) as i64 + 1).raw() };
    root
}

/// A copy of a node with one child more, which comes at this word.
fn with_child(heap: &mut Heap, node: Term, word: usize, number: u32, child: Term) -> Term {
    let header = node.header();
    let words = header.words();
    let ptr = heap.alloc(words + 1);
    // SAFETY: the node has as many words, and room for one more was just allocated.
    unsafe {
        *ptr = Header::with_aux(header.kind(), header.arity() + 1, header.aux() | 1 << number).raw();
        std::ptr::copy_nonoverlapping(node.ptr().add(1), ptr.add(1), word - 1);
        *ptr.add(word) = child.raw();
        std::ptr::copy_nonoverlapping(node.ptr().add(word), ptr.add(word + 1), words - word);
    }
    Term::boxed(ptr)
}

/// A copy of a node with another word.
fn with_word(heap: &mut Heap, node: Term, word: usize, value: Term) -> Term {
    let words = node.header().words();
    let ptr = heap.alloc(words);
    // SAFETY: the node has as many words, and room for them was just allocated.
    unsafe {
        std::ptr::copy_nonoverlapping(node.ptr(), ptr, words);
        *ptr.add(word) = value.raw();
    }
    Term::boxed(ptr)
}

pub fn put(heap: &mut Heap, map: Term, key: Term, value: Term) -> Term {
    let way = Way::new(key);
    if let Some(new) = put_near(heap, map, way, value) {
        return new;
    }
    let pair = heap.cons(key, value);
    let mut insertion = Insertion { replace: true, found: false };
    match insert_in(heap, map, way, pair, &mut insertion) {
        Some(draft) => make_root(heap, draft.bitmap, draft.children(), map::size(map) + !insertion.found as usize),
        None => map,
    }
}

/// Value of `key` and the map without it.
pub fn take(heap: &mut Heap, map: Term, key: Term) -> Option<(Term, Term)> {
    let value = get(map, key)?;
    let size = map::size(map) - 1;
    if size <= FLAT_MAX {
        let pairs: Vec<(Term, Term)> = MapIter::new(map).filter(|(k, _)| !exact_eq(*k, key)).collect();
        return Some((value, map::from_pairs(heap, &pairs)));
    }
    let draft = remove_in(heap, map, Way::new(key));
    Some((value, make_root(heap, draft.bitmap, draft.children(), size)))
}

/// The children of `node` without the key, which is there.
fn remove_in(heap: &mut Heap, node: Term, way: Way) -> Draft {
    let mut draft = Draft::of(node);
    let number = way.number();
    let at = index(draft.bitmap, number);
    let child = draft.slots[at];
    if child.is_cons() {
        draft.remove(number);
        return draft;
    }
    let below = remove_in(heap, child, way.down());
    // A node with one pair left becomes that pair.
    let single = below.len == 1 && below.slots[0].is_cons();
    draft.slots[at] = if single { below.slots[0] } else { below.node(heap) };
    draft
}

/// A trie of pairs with distinct keys, more than 32.
pub fn from_distinct(heap: &mut Heap, pairs: &[(Term, Term)]) -> Term {
    let mut items: Vec<Item> = pairs.iter().map(|&(key, value)| Item::new(key, value, 0)).collect();
    items.sort_by_key(|item| item.order);
    build_root(heap, &mut items)
}

/// A trie of pairs in which the last of equal keys wins; None if at most 32 keys are left, which then stand in `kept`.
pub fn from_pairs(heap: &mut Heap, pairs: &[(Term, Term)], kept: &mut Vec<(Term, Term)>) -> Option<Term> {
    let mut items: Vec<Item> = pairs.iter().map(|&(key, value)| Item::new(key, value, 0)).collect();
    items.sort_by_key(|item| item.order);
    drop_doubles(&mut items);
    if items.len() <= FLAT_MAX {
        kept.extend(items.iter().map(|item| (item.key, item.value)));
        return None;
    }
    Some(build_root(heap, &mut items))
}

/// Removes all but the last of equal keys; equal hashes stand together.
fn drop_doubles(items: &mut Vec<Item>) {
    let mut out = 0;
    let mut from = 0;
    while from < items.len() {
        let same = items[from..].iter().take_while(|item| item.order == items[from].order).count();
        let group = out;
        for i in from..from + same {
            let item = items[i];
            match items[group..out].iter().position(|other| exact_eq(other.key, item.key)) {
                Some(at) => items[group + at].value = item.value,
                None => {
                    items[out] = item;
                    out += 1;
                }
            }
        }
        from += same;
    }
    items.truncate(out);
}

#[derive(Clone, Copy)]
struct Item {
    key: Term,
    value: Term,
    /// The hash with its four-bit groups reversed: sorting by it gives trie order.
    order: u64,
}

impl Item {
    fn new(key: Term, value: Term, salt: u64) -> Item {
        let bytes = salted_hash(key, salt).swap_bytes();
        const LOW: u64 = 0x0f0f_0f0f_0f0f_0f0f;
        Item { key, value, order: (bytes & LOW) << 4 | bytes >> 4 & LOW }
    }
    fn number(&self, level: u32) -> u32 {
        (self.order >> (60 - BITS * (level % LEVELS_PER_HASH))) as u32 & 15
    }
}

fn build_root(heap: &mut Heap, items: &mut [Item]) -> Term {
    let size = items.len();
    let (bitmap, slots, len) = build_children(heap, items, 0);
    make_root(heap, bitmap, &slots[..len], size)
}

fn build_children(heap: &mut Heap, items: &mut [Item], level: u32) -> (u32, [Term; 16], usize) {
    if level > 0 && level.is_multiple_of(LEVELS_PER_HASH) {
        for item in items.iter_mut() {
            *item = Item::new(item.key, item.value, (level / LEVELS_PER_HASH) as u64);
        }
        items.sort_by_key(|item| item.order);
    }
    let (mut bitmap, mut slots, mut len) = (0u32, [Term::NIL; 16], 0);
    let mut rest = items;
    while !rest.is_empty() {
        let number = rest[0].number(level);
        let count = rest.iter().take_while(|item| item.number(level) == number).count();
        let (group, tail) = rest.split_at_mut(count);
        rest = tail;
        slots[len] = if let [item] = group {
            heap.cons(item.key, item.value)
        } else {
            let (bitmap, slots, len) = build_children(heap, group, level + 1);
            make_node(heap, bitmap, &slots[..len])
        };
        bitmap |= 1 << number;
        len += 1;
    }
    (bitmap, slots, len)
}

/// All pairs of two tries; where both have a key, `b`'s value.
pub fn merge(heap: &mut Heap, a: Term, b: Term) -> Term {
    let mut doubles = 0;
    let draft = merge_nodes(heap, a, b, 0, &mut doubles);
    let size = map::size(a) + map::size(b) - doubles;
    make_root(heap, draft.bitmap, draft.children(), size)
}

fn merge_nodes(heap: &mut Heap, a: Term, b: Term, level: u32, doubles: &mut usize) -> Draft {
    let (a_bits, a_slots) = children(a);
    let (b_bits, b_slots) = children(b);
    let mut draft = Draft { bitmap: a_bits | b_bits, slots: [Term::NIL; 16], len: 0 };
    for number in 0..16 {
        let x = (a_bits >> number & 1 == 1).then(|| a_slots[index(a_bits, number)]);
        let y = (b_bits >> number & 1 == 1).then(|| b_slots[index(b_bits, number)]);
        let child = match (x, y) {
            (None, None) => continue,
            (Some(one), None) | (None, Some(one)) => one,
            (Some(x), Some(y)) => merge_children(heap, x, y, level + 1, doubles),
        };
        draft.slots[draft.len] = child;
        draft.len += 1;
    }
    draft
}

fn merge_children(heap: &mut Heap, a: Term, b: Term, level: u32, doubles: &mut usize) -> Term {
    if a == b {
        *doubles += if a.is_cons() { 1 } else { MapIter::of_node(a).count() };
        return b;
    }
    let (into, pair, replace) = match (a.is_cons(), b.is_cons()) {
        (false, false) => return merge_nodes(heap, a, b, level, doubles).node(heap),
        (false, true) => (a, b, true),
        // The pair of `a` gives way to one in `b`.
        (true, _) => (b, a, false),
    };
    let mut insertion = Insertion { replace, found: false };
    let merged = insert(heap, into, Way::at_level(pair.head(), level), pair, &mut insertion);
    *doubles += insertion.found as usize;
    merged
}
