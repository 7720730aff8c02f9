//! Text of numbers and terms.

pub mod display;
pub mod float;
pub mod float_parse;
