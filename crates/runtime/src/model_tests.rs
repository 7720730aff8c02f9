//! Structures of a process and of the whole node against plain models (`heddle_model`).

mod dictionary;
mod inner_queue;
mod messages;
mod names;
pub(crate) mod processes;
mod relations;
mod run_queues;
mod run_queues_threads;
