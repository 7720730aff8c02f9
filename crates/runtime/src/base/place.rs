//! Where a process should run: see `placement`.

/// Maximum schedulers of a kind. Numbers of places from here on are private threads.
pub(crate) const MAX_SCHEDULERS: usize = 1024;

/// The index of a scheduler, or what `private::start` returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    Anywhere,
    /// The process should go there once.
    Next(usize),
    Pinned(usize),
    Private(usize),
}
