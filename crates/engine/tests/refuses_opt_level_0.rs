//! The build script refuses opt-level 0, with a sentence that says what to do, and nothing else.

use std::process::Command;

#[test]
fn the_engine_is_not_built_without_optimisation() {
    let script = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("engine-build-script");
    let rustc = std::env::var("RUSTC").unwrap_or("rustc".into());
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/build.rs");
    let built = Command::new(rustc).args(["--edition", "2024", source, "-o"]).arg(&script).status().expect("rustc runs");
    assert!(built.success());
    for (level, refuses) in [("0", true), ("1", false), ("2", false), ("3", false), ("s", false)] {
        let output = Command::new(&script).env("OPT_LEVEL", level).output().expect("the script runs");
        let text = String::from_utf8(output.stdout).expect("text");
        assert_eq!(text.contains("cargo::error=heddle-engine needs optimisation"), refuses, "{level}: {text}");
    }
}
