//! Natives on processes.

pub mod dictionary;
pub mod dump;
pub mod flags;
pub mod info;
pub mod messages;
pub mod names;
pub mod placement;
pub mod relations;
pub mod spawn;
pub mod spawn_request;
pub mod suspend;
pub mod system_tasks;
pub mod tasks;
pub mod timers;
