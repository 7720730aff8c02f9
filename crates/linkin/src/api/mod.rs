//! The functions of `erl_driver.h`, by theme. Each file has a table of its functions; `TABLES` lists the tables.

mod binaries;
mod closing;
mod descriptors;
mod jobs;
mod linker;
mod memory;
mod monitors;
mod output;
mod ports;
mod queue;
mod system;
mod terms;
mod threads;
mod time;
mod timers;

use crate::macros::Exported;
pub use terms::driver_term_nil as NIL;

/// All functions that libraries can call.
#[used]
pub static TABLES: [&[Exported]; 15] = [
    binaries::FUNCTIONS,
    closing::FUNCTIONS,
    descriptors::FUNCTIONS,
    jobs::FUNCTIONS,
    linker::FUNCTIONS,
    memory::FUNCTIONS,
    monitors::FUNCTIONS,
    output::FUNCTIONS,
    ports::FUNCTIONS,
    queue::FUNCTIONS,
    system::FUNCTIONS,
    terms::FUNCTIONS,
    threads::FUNCTIONS,
    time::FUNCTIONS,
    timers::FUNCTIONS,
];
