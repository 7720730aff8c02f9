//! Locks, conditions, threads and their own data, as C libraries use them.

pub mod cond;
pub mod mutex;
pub mod name;
pub mod rwlock;
pub mod thread;
