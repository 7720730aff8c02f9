//! What has to be known of a function before it is translated.

pub mod effects;
pub mod function;
pub mod liveness;
pub mod roots;
