//! NIF libraries: the C interface of `erl_nif.h`, `erlang:load_nif/2`, and resources.

#[macro_use]
mod macros;
pub use macros::Exported;
pub mod api;
mod call;
mod callbacks;
mod env;
pub mod functions;
mod halt;
mod library;
mod load;
mod monitor;
mod resource;
mod schedule;
mod select;
pub mod threads;

/// From now on libraries can be loaded. `erts` and `otp`: the versions that libraries are told.
pub fn install(erts: &str, otp: &str) {
    let _ = heddle_runtime::code::nifs::LOAD_NIF.set(load::load_nif);
    let _ = heddle_runtime::code::nifs::CALLBACKS_ARE_DUE.set(callbacks::are_due);
    monitor::install();
    api::system::set_versions(erts, otp);
    // The linker keeps what is referred to.
    std::hint::black_box(&api::TABLES);
}
