//! The worked example of native tasks, `examples/task`: its program gives what it should, in every mode. Needs the libraries of an
//! OTP 27 in `$HEDDLE_OTP`, /opt/otp27 or `build/otp`; without one it is skipped.

mod place;

use place::{otp, root};
use std::path::Path;
use std::process::Command;

#[test]
fn the_example_runs_in_every_mode() {
    let Some(otp) = otp() else { return };
    let program = Path::new(env!("CARGO_BIN_EXE_heddle")).with_file_name("examples").join("lines");
    let expected = std::fs::read_to_string(root().join("examples/task/lines.out")).unwrap();
    // Names of variables, and their values.
    let modes =
        [("HEDDLE_ZEAL", "gc"), ("HEDDLE_ZEAL", "yield"), ("ERL_FLAGS", "+S 2"), ("ERL_FLAGS", "+S 64:64"), ("ERL_FLAGS", "-smp disable")];
    for mode in modes {
        let mut command = Command::new(&program);
        command.arg("run").arg(root().join("examples/task/lines.erl")).env("HEDDLE_OTP", &otp).envs([mode]);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{mode:?}: {said}\n{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(said, expected, "{mode:?}");
    }
}
