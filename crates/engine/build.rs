//! Refuses to build the engine without optimisation: its operations end in calls of the next one, of which LLVM makes jumps from opt-level 1
//! on (`src/ctx.rs`). Without that the native stack grows with each instruction until the program dies.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Cargo sets it.
    if std::env::var("OPT_LEVEL").is_ok_and(|level| level == "0") {
        println!(
            "cargo::error=heddle-engine needs optimisation: at opt-level 0 the program would overflow its stack at once. \
             Build with --release, or put this into the Cargo.toml of your workspace: [profile.dev] opt-level = 1"
        );
    }
}
