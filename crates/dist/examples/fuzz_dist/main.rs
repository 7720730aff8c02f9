//! Throws packets at the receiving end of a connection: `cargo run --release -p heddle-dist --example fuzz_dist -- [--count N] [--seed S]`.
//!
//! Packets are those of random messages, some with bytes changed, cut, doubled or removed, and plain random bytes. The receiver must not
//! panic, must not take more memory than a constant times the input, and what it accepts must come back when it is sent on. The first
//! failure is printed with its packet, and the exit status is 1.

mod attack;
mod mutation;
#[path = "../../tests/wire/random.rs"]
mod random;

use attack::Attack;
use heddle_term::code_hooks;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

fn option(name: &str, default: u64) -> u64 {
    let args: Vec<String> = std::env::args().collect();
    let value = args.iter().position(|a| a == name).and_then(|at| args.get(at + 1));
    value.and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn main() -> ExitCode {
    let (count, seed) = (option("--count", 1_000_000), option("--seed", 1));
    code_hooks::install(code_hooks::ONE_FOR_ALL);
    let mut attack = Attack::new(seed);
    for n in 0..count {
        let packet = attack.packet();
        let outcome = catch_unwind(AssertUnwindSafe(|| attack.receive(&packet))).unwrap_or_else(|_| Err("panic".into()));
        if let Err(what) = outcome {
            let hex: String = packet.iter().map(|b| format!("{b:02x}")).collect();
            println!("packet {n} of seed {seed}: {what}\n{hex}");
            return ExitCode::FAILURE;
        }
    }
    let Attack { accepted, decoded, refused, .. } = attack;
    println!("{count} packets, {accepted} accepted, {decoded} messages decoded, {refused} connections refused, seed {seed}: ok");
    ExitCode::SUCCESS
}
