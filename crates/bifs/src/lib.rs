//! Built-in functions: natives on data, processes, tracing and the VM itself. One file a noun; each has a table of its natives, collected in
//! `TABLES`.

pub mod data;
mod host;
pub mod process;
pub mod system;
pub mod tasks;
pub mod trace;

use heddle_runtime::natives::Native;

pub const TABLES: &[&[Native]] = &[
    process::dictionary::TABLE,
    process::flags::TABLE,
    process::info::TABLE,
    process::messages::TABLE,
    process::names::TABLE,
    process::placement::TABLE,
    process::relations::TABLE,
    process::spawn::TABLE,
    process::spawn_request::TABLE,
    process::suspend::TABLE,
    process::system_tasks::TABLE,
    process::tasks::TABLE,
    process::timers::TABLE,
    system::dirty::TABLE,
    system::display::TABLE,
    system::halt::TABLE,
    system::heap_figures::TABLE,
    system::heddle_stats::TABLE,
    system::lcnt::TABLE,
    system::info::TABLE,
    system::instrument::TABLE,
    system::internal_state::TABLE,
    system::coverage::TABLE,
    system::refused::TABLE,
    system::signals::TABLE,
    system::statistics::TABLE,
    system::time::TABLE,
    trace::process::TABLE,
    trace::pattern::TABLE,
    trace::debugged::TABLE,
    trace::erl_tracer::TABLE,
    trace::info::TABLE,
    trace::seq::TABLE,
    trace::session::TABLE,
    trace::system::TABLE,
];

/// Makes the natives of this crate callable.
pub fn register() {
    host::install();
    tasks::register();
    system::multi_scheduling::init();
    TABLES.iter().chain(data::TABLES).copied().for_each(heddle_runtime::natives::register);
}
