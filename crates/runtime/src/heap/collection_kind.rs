//! What a collection is asked to do, whatever the memory architecture.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CollectionKind {
    /// Minor unless something asks for more.
    Automatic,
    /// As Automatic, because a program asked. A shared heap is not collected for less.
    Asked,
    /// As Automatic, for a process whose block was enlarged and that is about to wait: the block gets its usual size (`heap_growth`).
    Shrink,
    Major,
}
