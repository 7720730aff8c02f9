//! The terminal: what module prim_tty calls.

pub mod capabilities;
pub mod modes;
pub mod natives;
pub mod parameters;
pub mod terminfo;
