//! Files, names of files, and byte buffers.

pub mod buffer;
pub mod file;
pub mod file_info;
pub mod names;
pub mod paths;
