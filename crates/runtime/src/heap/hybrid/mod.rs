//! The hybrid architecture: messages lie in a shared area of regions (`heddle_term::area`), all else in private heaps.

pub mod held_regions;
pub(crate) mod own_copy;
