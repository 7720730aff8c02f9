//! The functions of `erl_nif.h`, by theme. Each file has a table of its functions; `TABLES` lists the tables.

pub mod binaries;
mod ioq;
mod lists;
mod maps;
mod memory;
mod numbers;
mod processes;
mod resources;
mod schedule;
mod select;
pub mod system;
mod terms;
mod text;
mod time;
mod variadic;

use crate::macros::Exported;
use crate::threads;

/// All functions that libraries can call.
#[used]
pub static TABLES: [&[Exported]; 19] = [
    binaries::FUNCTIONS,
    ioq::FUNCTIONS,
    lists::FUNCTIONS,
    maps::FUNCTIONS,
    memory::FUNCTIONS,
    numbers::FUNCTIONS,
    processes::FUNCTIONS,
    resources::FUNCTIONS,
    schedule::FUNCTIONS,
    select::FUNCTIONS,
    system::FUNCTIONS,
    terms::FUNCTIONS,
    text::FUNCTIONS,
    time::FUNCTIONS,
    variadic::FUNCTIONS,
    threads::mutex::FUNCTIONS,
    threads::rwlock::FUNCTIONS,
    threads::cond::FUNCTIONS,
    threads::thread::FUNCTIONS,
];
