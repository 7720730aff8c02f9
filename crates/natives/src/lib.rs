//! Natives: what Erlang code calls and Rust does. One file a noun; each has a table of its natives, collected in `TABLES`.

pub mod args;
pub mod data;
pub mod errno;
pub mod ets;
pub mod inet;
pub mod io;
pub mod nodes;
pub mod ports;
pub mod process;
pub mod spec;
pub mod system;
pub mod tasks;
pub mod trace;
pub mod tty;

use heddle_runtime::natives::Native;

pub const TABLES: &[&[Native]] = &[
    process::dictionary::TABLE,
    process::flags::TABLE,
    process::info::TABLE,
    process::messages::TABLE,
    process::names::TABLE,
    process::relations::TABLE,
    process::spawn::TABLE,
    process::spawn_request::TABLE,
    process::suspend::TABLE,
    process::system_tasks::TABLE,
    process::tasks::TABLE,
    process::timers::TABLE,
    spec::natives::TABLE,
    system::dirty::TABLE,
    system::display::TABLE,
    system::halt::TABLE,
    system::heap_figures::TABLE,
    system::heddle_stats::TABLE,
    system::lcnt::TABLE,
    system::info::TABLE,
    system::instrument::TABLE,
    system::internal_state::TABLE,
    system::os::TABLE,
    system::placement::TABLE,
    system::coverage::TABLE,
    system::refused::TABLE,
    system::signals::TABLE,
    system::statistics::TABLE,
    system::time::TABLE,
    trace::process::TABLE,
    trace::pattern::TABLE,
    trace::debugged::TABLE,
    trace::info::TABLE,
    trace::seq::TABLE,
    trace::session::TABLE,
    trace::system::TABLE,
    nodes::TABLE,
    io::buffer::TABLE,
    io::file::TABLE,
    io::file_info::TABLE,
    io::names::TABLE,
    io::paths::TABLE,
    ports::natives::TABLE,
    tty::natives::TABLE,
];

/// The drivers that `open_port` can start.
const DRIVERS: &[ports::driver::Entry] = &[ports::ram_file::ENTRY, ports::trace_file::ENTRY, inet::ENTRY, inet::resolver::ENTRY];

/// Makes all natives of this crate callable.
pub fn register() {
    ports::hooks::install();
    ports::driver::install(DRIVERS);
    ets::init();
    tasks::register();
    trace::init();
    system::multi_scheduling::init();
    for table in TABLES.iter().chain(data::TABLES).chain(ets::TABLES) {
        heddle_runtime::natives::register(table);
    }
}
