//! Types of native tasks that every VM has (see `runtime::task`).

mod pacer;
pub mod probe;

use heddle_runtime::task;

pub fn register() {
    assert!(task::register(&pacer::TYPE), "names of types differ");
}
