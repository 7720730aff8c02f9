//! Driver libraries: the C interface of `erl_driver.h`, `erl_ddll`, and the ports of such drivers.

#[macro_use]
mod macros;
pub mod api;
mod binary;
pub(crate) mod calls;
mod descriptors;
mod entry;
mod errors;
pub mod functions;
mod instance;
mod jobs;
mod library;
mod loaded;
mod locks;
mod memory;
mod natives;
mod options;
mod output;
mod port;
mod questions;
mod queue;
mod terms;
mod text;

use heddle_runtime::process::FLAG_DRIVERS;

/// Makes the natives of this crate callable.
pub fn register() {
    heddle_runtime::natives::register(natives::TABLE);
    heddle_runtime::natives::register(questions::TABLE);
}

/// From now on driver libraries can be loaded.
pub fn install() {
    heddle_io::ports::driver::install(&port::ENTRIES);
    heddle_runtime::exit::add_hook(|p| {
        if p.flags & FLAG_DRIVERS != 0 {
            library::user_ended(p.pid());
        }
    });
    let _ = heddle_runtime::shutdown::AT_CRASH.set(port::emergency_close);
    // The linker keeps what is referred to.
    std::hint::black_box(&api::TABLES);
    std::hint::black_box(&api::NIL);
}
