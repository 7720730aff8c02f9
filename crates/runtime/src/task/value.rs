//! Terms as call-backs see them, with the lifetime for which they are there.

use crate::{Package, RefId};
use heddle_term::bits::BitsView;
use heddle_term::{Atom, Heap, Term, big, list, map, order, text};
use std::cell::UnsafeCell;
use std::marker::PhantomData;

/// The identity of a process or task of this node, alive or not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Pid(pub(crate) u64);

/// A term that is there for `'m`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Value<'m> {
    term: Term,
    life: PhantomData<&'m Owned>,
}

impl<'m> Value<'m> {
    /// # Safety
    /// The term is immediate, or it neither moves nor is freed during `'m`.
    // SAFETY: callers pass immediates, or terms of a heap or package that stays as it is until the call-back of the task returns.
    pub(crate) unsafe fn new(term: Term) -> Value<'m> {
        Value { term, life: PhantomData }
    }

    /// The term itself, for operations that have no function here.
    ///
    /// # Safety
    /// It is not used after `'m`.
    pub unsafe fn term(self) -> Term {
        self.term
    }
    pub(super) fn raw(self) -> Term {
        self.term
    }

    pub fn as_atom(self) -> Option<Atom> {
        self.term.as_atom()
    }
    /// True if it is the atom of that name.
    pub fn is(self, name: &str) -> bool {
        self.term.as_atom().is_some_and(|atom| atom.name() == name)
    }
    /// An integer of 64 bits.
    pub fn as_integer(self) -> Option<i64> {
        big::to_i64(self.term)
    }
    /// A float, or the float nearest to an integer.
    pub fn as_number(self) -> Option<f64> {
        self.term.as_float().or_else(|| big::to_f64(self.term))
    }
    /// A process of this node.
    pub fn as_pid(self) -> Option<Pid> {
        self.term.is_local_pid().then(|| Pid(self.term.payload()))
    }
    pub fn as_tuple(self) -> Option<&'m [Value<'m>]> {
        let elements: &'m [Term] = self.term.as_tuple()?;
        // SAFETY: a Value is a Term (transparent); what a term refers to is there for as long as the term.
        Some(unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), elements.len()) })
    }
    /// The elements of a proper list.
    pub fn as_list(self) -> Option<Vec<Value<'m>>> {
        Some(list::to_vec(self.term)?.into_iter().map(|term| Value { term, life: PhantomData }).collect())
    }
    /// The value of a map for a key; None also for a term that is not a map.
    pub fn get(self, key: Atom) -> Option<Value<'m>> {
        let value = if self.term.is_map() { map::get(self.term, key.into()) } else { None };
        value.map(|term| Value { term, life: PhantomData })
    }
    pub fn is_map(self) -> bool {
        self.term.is_map()
    }
    /// The bytes of a binary.
    pub(crate) fn as_bytes(self) -> Option<Vec<u8>> {
        BitsView::of(self.term).filter(BitsView::is_binary).map(|bits| bits.to_vec())
    }
    /// The bytes of an iolist or binary.
    pub fn io_bytes(self) -> Option<Vec<u8>> {
        list::iolist_to_vec(self.term).ok()
    }
    /// Text from a binary in UTF-8 or a list of characters.
    pub fn as_text(self) -> Option<String> {
        match self.as_bytes() {
            Some(bytes) => String::from_utf8(bytes).ok(),
            None => list::unicode_string(self.term),
        }
    }
    /// As `=:=`.
    pub fn is_same(self, other: Value<'_>) -> bool {
        order::exact_eq(self.term, other.term)
    }
    /// True if it is the `{'DOWN', Reference, process, Pid, Reason}` of this monitor.
    pub fn is_down(self, monitor: super::Monitor) -> bool {
        let reference = |down: &[Value<'m>]| down.len() == 5 && RefId::of(down[1].term) == Some(monitor.0);
        self.as_tuple().is_some_and(|down| down.first().is_some_and(|tag| tag.is("DOWN")) && reference(down))
    }
    /// A copy in memory of its own.
    pub fn keep(self) -> Owned {
        Owned(Package::new(self.term))
    }
}

/// As `io:format("~w", [Term])` shows it, with strings as such.
impl std::fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&text::display::to_string(self.term))
    }
}

/// A term with memory of its own. Binaries of more than 64 bytes are shared.
pub struct Owned(Package);

impl Owned {
    pub const fn atom(atom: Atom) -> Owned {
        Owned(Package::immediate(Term::atom(atom)))
    }
    pub fn build(build: impl for<'b> FnOnce(&'b Builder) -> Value<'b>) -> Owned {
        let builder = Builder::default();
        let term = build(&builder).term;
        Owned(Package::new(term))
    }
    pub fn of(package: Package) -> Owned {
        Owned(package)
    }
    pub fn value(&self) -> Value<'_> {
        Value { term: self.0.term(), life: PhantomData }
    }
    /// Words of its own memory.
    pub fn words(&self) -> usize {
        self.0.words()
    }
    pub fn package(self) -> Package {
        self.0
    }
}

/// Makes terms, which are there as long as the builder is.
#[derive(Default)]
pub struct Builder {
    heap: UnsafeCell<Heap>,
}

impl Drop for Builder {
    fn drop(&mut self) {
        self.heap.get_mut().clear();
    }
}

impl Builder {
    fn with(&self, make: impl FnOnce(&mut Heap) -> Term) -> Value<'_> {
        // Terms made before do not move.
        // SAFETY: a builder is not Sync, and no `make` of this file calls a builder: there is no other reference to the heap now.
        let term = make(unsafe { &mut *self.heap.get() });
        Value { term, life: PhantomData }
    }

    /// A copy of a term from elsewhere.
    pub fn copy(&self, value: Value<'_>) -> Value<'_> {
        self.with(|heap| heap.copy(value.term))
    }
    pub fn atom(&self, atom: impl Into<Atom>) -> Value<'_> {
        let atom = atom.into();
        self.with(|_| atom.into())
    }
    /// The atom of this name. The name must be one of the program's, not from its input: atoms are never freed.
    pub fn name(&self, name: &str) -> Value<'_> {
        self.with(|_| Atom::new(name).into())
    }
    pub fn boolean(&self, value: bool) -> Value<'_> {
        self.with(|_| Term::bool(value))
    }
    pub fn integer(&self, value: i64) -> Value<'_> {
        self.with(|heap| heap.integer(value))
    }
    pub fn float(&self, value: f64) -> Value<'_> {
        self.with(|heap| heap.float(value))
    }
    pub fn pid(&self, pid: Pid) -> Value<'_> {
        self.with(|_| Term::local_pid(pid.0))
    }
    /// The reference of a monitor, as in its 'DOWN' message.
    pub fn monitor(&self, monitor: super::Monitor) -> Value<'_> {
        self.with(|heap| heap.reference(monitor.0.words()))
    }
    pub fn binary(&self, bytes: &[u8]) -> Value<'_> {
        self.with(|heap| heap.binary(bytes))
    }
    pub fn tuple<'b>(&'b self, elements: &[Value<'b>]) -> Value<'b> {
        self.with(|heap| heap.tuple(terms(elements)))
    }
    pub fn list<'b>(&'b self, elements: &[Value<'b>]) -> Value<'b> {
        self.with(|heap| heap.list(terms(elements)))
    }
    pub(crate) fn map<'b>(&'b self, pairs: &[(Value<'b>, Value<'b>)]) -> Value<'b> {
        let pairs: Vec<(Term, Term)> = pairs.iter().map(|(key, value)| (key.term, value.term)).collect();
        self.with(|heap| map::from_pairs(heap, &pairs))
    }
    /// A map with atoms for keys.
    pub fn fields<'b>(&'b self, fields: &[(&str, Value<'b>)]) -> Value<'b> {
        let pairs: Vec<(Term, Term)> = fields.iter().map(|(name, value)| (Atom::new(name).into(), value.term)).collect();
        self.with(|heap| map::from_pairs(heap, &pairs))
    }
}

fn terms<'a>(values: &'a [Value<'_>]) -> &'a [Term] {
    // SAFETY: a Value is a Term (transparent).
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_value_outlives_its_builder() {
        let kept = Owned::build(|b| {
            let parts = [b.integer(i64::MAX), b.float(0.5), b.binary(&[7; 100]), b.boolean(true)];
            let list = b.list(&parts);
            b.fields(&[("list", list), ("pid", b.pid(Pid(9)))])
        });
        let again = kept.value().keep();
        let whole = again.value();
        let list = whole.get(Atom::new("list")).and_then(Value::as_list).expect("a list");
        assert!(whole.is_same(kept.value()));
        assert_eq!(list[0].as_integer(), Some(i64::MAX));
        assert_eq!(list[1].as_number(), Some(0.5));
        assert_eq!(list[2].as_bytes(), Some(vec![7; 100]));
        assert!(list[3].is("true"));
        assert_eq!(whole.get(Atom::new("pid")).and_then(Value::as_pid), Some(Pid(9)));
    }

    #[test]
    fn a_value_of_another_kind_is_none() {
        let kept = Owned::build(|b| b.tuple(&[b.integer(1), b.map(&[])]));
        let [one, map] = kept.value().as_tuple().expect("a tuple") else { panic!("two elements") };
        assert!(one.as_atom().is_none() && one.as_list().is_none() && one.get(Atom::new("list")).is_none() && one.as_pid().is_none());
        assert!(map.as_tuple().is_none() && map.is_map() && map.as_text().is_none());
    }
}
