//! Parses and verifies `.beam` files and says what is wrong with them.
//!
//! `cargo run --release -p heddle-beamfile --example verify_beam -- FILE...`

use std::{env, fs, process};

use heddle_beamfile::Verified;

fn main() {
    let (mut accepted, mut refused) = (0, 0);
    for path in env::args().skip(1) {
        let loaded = fs::read(&path).map_err(|error| error.to_string());
        match loaded.and_then(|bytes| Verified::load(&bytes).map_err(|error| error.to_string())) {
            Ok(_) => accepted += 1,
            Err(problem) => {
                refused += 1;
                println!("{path}: {problem}");
            }
        }
    }
    println!("{accepted} accepted, {refused} refused");
    process::exit(i32::from(refused > 0));
}
