//! Locks, conditions, threads and their own data, as C libraries use them.
//!
//! A thread that waits here lets others have the turn of the sequential machine (`qsbr::while_others_go`): the thread for which it waits may send.

pub mod cond;
pub mod mutex;
pub mod name;
pub mod rwlock;
pub mod thread;
