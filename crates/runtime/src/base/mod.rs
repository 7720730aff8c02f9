//! What everything else stands on: time, levels, references, test modes, reclamation.

pub mod affinity;
pub mod cycles;
pub mod level;
pub mod memory_mode;
pub(crate) mod parker;
pub mod place;
pub mod qsbr;
pub mod refs;
pub mod registers;
pub mod shutdown;
pub mod sizes;
pub(crate) mod stop_requests;
pub mod time;
pub mod zeal;
