//! Natives on the VM itself.

pub mod allocators;
pub mod areas;
pub mod binding;
pub mod break_menu;
pub mod coverage;
pub mod cpus;
pub mod crash_dump;
pub mod dirty;
pub mod display;
pub mod dump_settings;
pub mod halt;
pub mod heap_figures;
pub mod heddle_stats;
pub mod info;
pub mod instrument;
pub mod internal_nodes;
pub mod internal_state;
pub mod internal_tables;
pub mod lcnt;
pub mod multi_scheduling;
pub mod refused;
pub mod remote_tables;
pub mod signals;
pub mod statistics;
mod terminate;
pub mod time;
pub mod topology;
