//! Where things are, for tests that run the program.

use std::path::{Path, PathBuf};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The root of an OTP 27.
pub fn otp() -> Option<PathBuf> {
    let given = std::env::var_os("HEDDLE_OTP").map(PathBuf::from);
    let places = given.into_iter().chain(["/opt/otp27".into(), root().join("build/otp")]);
    let found = places.into_iter().find(|place| place.join("lib").is_dir());
    if found.is_none() {
        println!("skipped: no OTP; set HEDDLE_OTP to the root of an OTP 27 tree");
    }
    found
}
