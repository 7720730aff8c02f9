//! What loading costs, with and without an analysis: makes code of files, for callgrind to count.
//!
//!     cargo build --release -p heddle-engine --example load_cost
//!     valgrind --tool=callgrind --toggle-collect='*prepare_with*' target/release/examples/load_cost [--messages] FILE...

use heddle_engine::loader::{self, LoadOptions};
use std::time::Instant;

fn main() {
    let (options, files): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let analyse_messages = match options.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--messages"] => true,
        _ => panic!("the only option is --messages, not {options:?}"),
    };
    heddle_term::atom::set_limit(heddle_term::atom::MAX_LIMIT);
    heddle_engine::init();
    let (mut bytes, mut cells, mut sites, started) = (0, 0, 0, Instant::now());
    for file in &files {
        let content = std::fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}"));
        let instance = loader::prepare_with(&content, LoadOptions { analyse_messages }).unwrap_or_else(|error| panic!("{file}: {error}"));
        bytes += content.len();
        cells += instance.code.len();
        sites += instance.message_sites.len();
    }
    let took = started.elapsed();
    println!("{} files, {bytes} bytes, {cells} cells, {sites} operations that build messages, {took:?}", files.len());
}
