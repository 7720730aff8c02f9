//! A fault in the native code of a program names the library, the function and the process, and ends the emulator by the signal. A library that
//! wants that is waited for when the emulator halts. Needs a C compiler and the libraries of an OTP 27 with the headers of its native interfaces;
//! without them it is skipped.

mod place;

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder with the library, or None if there is no compiler or no header.
fn library(name: &str) -> Option<PathBuf> {
    let otp = place::otp()?;
    let headers = Path::new(&otp).join("usr/include");
    if !headers.join("erl_nif.h").exists() {
        eprintln!("skipped: {} has no erl_nif.h", headers.display());
        return None;
    }
    let folder = std::env::temp_dir().join(format!("heddle-faults-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let compiled = Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-o"])
        .arg(folder.join("faults.so"))
        .arg("-I")
        .arg(headers)
        .arg(place::root().join("crates/cli/tests/faults.c"))
        .output()
        .ok()?;
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    Some(folder)
}

fn run(folder: &Path, how: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.arg("run").arg(place::root().join("crates/cli/tests/faults.erl")).arg(folder).arg(how);
    command.env("HEDDLE_OTP", place::otp().unwrap()).current_dir(folder).stdin(Stdio::null());
    command.output().unwrap()
}

#[test]
fn a_fault_names_library_function_and_process() {
    let Some(folder) = library("names") else { return };
    let cases = [
        ("writes", libc::SIGSEGV, "memory fault in the NIF library of module faults", "faults:writes/1"),
        ("measures", libc::SIGSEGV, "memory fault in the NIF library of module faults", "faults:measures/1"),
        ("aborts", libc::SIGABRT, "abort in the NIF library of module faults", "faults:aborts/1"),
        ("load", libc::SIGSEGV, "memory fault in the NIF library of module faults", "load"),
        ("driver", libc::SIGSEGV, "memory fault in the driver faults", "output"),
        ("dirty", libc::SIGSEGV, "memory fault in the NIF library of module faults", "faults:dirty/1"),
    ];
    for (how, signal, what, function) in cases {
        let output = run(&folder, how);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(signal), "{how}: {said}");
        assert!(said.contains(what) && said.contains(&format!("function: {function}")), "{how}: {said}");
        assert!(said.contains(&format!("library:  {}", folder.join("faults.so").display())), "{how}: {said}");
        assert!(how == "driver" || said.contains("process:  <0."), "{how}: {said}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_halt_waits_for_dirty_nifs_of_a_library_that_wants_it_and_tells_it() {
    let Some(folder) = library("waits") else { return };
    let output = run(&folder, "waits");
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "works\nhears of the halt\nhas worked\n");
    std::fs::remove_dir_all(&folder).unwrap();
}
