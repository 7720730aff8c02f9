//! What has to be known of a function before it is translated.

pub mod commands;
pub mod effects;
pub mod fit;
pub mod function;
pub mod guards;
pub mod known;
pub mod left;
pub mod liveness;
pub mod parts;
pub mod roots;
pub mod sizes;
