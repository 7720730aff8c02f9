//! `heddle`: the command line. Called as `erl`, `erlc` or `escript` (by name or first argument `--as NAME`) it behaves as they do.

mod emulator;
mod erl;
mod otp;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let args: Vec<std::ffi::OsString> = std::env::args_os().collect();
    erl::main(args)
}
