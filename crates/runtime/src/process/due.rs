//! What a dirty thread must do with a process before it goes on: see `long_gc`.

use crate::process::Process;

/// A task that needs the process whole and may take long. It gets None if the process ended before.
pub(crate) type DueTask = Box<dyn FnOnce(Option<&mut Process>) + Send>;

/// What a dirty thread must do.
#[derive(Default)]
pub struct Due {
    pub(crate) collect: Option<(usize, bool)>,
    pub(crate) tasks: Vec<DueTask>,
}
