//! As `fuzz_beam` of the beamfile crate, but goes all the way: what verifies is made into code cells.
//!
//! `cargo run --release -p heddle-engine --example fuzz_loader -- --dir OTP --count N --seed S`
//!
//! Atoms and literals of accepted files are never freed (as in a running node), so memory grows with the count.

#[allow(dead_code)]
#[path = "../../beamfile/examples/fuzz_beam.rs"]
mod fuzz_beam;

fn main() {
    heddle_term::atom::set_limit(heddle_term::atom::MAX_LIMIT);
    heddle_engine::init();
    fuzz_beam::start(|file| match heddle_engine::loader::prepare(file) {
        Ok(_) => Ok(()),
        Err(error) => Err((true, error.to_string())),
    });
}
