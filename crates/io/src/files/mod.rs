//! Files, names of files, and byte buffers.

pub mod buffer;
pub mod file;
pub mod file_info;
pub mod names;
pub mod outgoing;
pub mod paths;
pub mod reading;
