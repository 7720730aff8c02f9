//! Every file of a stock OTP tree parses and passes verification. The tree is `$HEDDLE_OTP`, or /opt/otp27; without one these tests are skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use heddle_beamfile::{BeamFile, Verified};

/// Fewer files than `tools/get-otp` fetches (986, as of OTP 27.3.4.1), and more than kernel, stdlib and compiler have.
const MIN_FILES: usize = 500;

fn otp_root() -> Option<PathBuf> {
    let root = std::env::var_os("HEDDLE_OTP").map_or_else(|| PathBuf::from("/opt/otp27/usr/lib/erlang"), PathBuf::from);
    if root.is_dir() {
        return Some(root);
    }
    println!("skipped: {} is no directory; set HEDDLE_OTP to the root of an OTP 27 tree", root.display());
    None
}

fn beams(directory: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            beams(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "beam") {
            found.push(path);
        }
    }
}

#[test]
fn every_file_is_accepted() {
    let Some(root) = otp_root() else { return };
    let mut files = Vec::new();
    beams(&root, &mut files);
    files.sort();
    assert!(files.len() >= MIN_FILES, "{} files under {}; is this a whole OTP?", files.len(), root.display());
    let mut refused = Vec::new();
    let (mut instrs, mut functions, mut raw, mut elapsed) = (0, 0, 0, std::time::Duration::ZERO);
    for path in &files {
        let bytes = fs::read(path).expect("a file listed a moment ago");
        let started = Instant::now();
        let parsed = Verified::load(&bytes);
        elapsed += started.elapsed();
        match parsed {
            Ok(beam) => {
                instrs += beam.code.instrs.len();
                functions += beam.code.functions.len();
                raw += (0..beam.code.functions.len()).filter(|&function| beam.raises_raw(function)).count();
            }
            Err(error) => refused.push(format!("{}: {error}", path.display())),
        }
    }
    println!("{} files, {functions} functions ({raw} raise raw), {instrs} instructions, {elapsed:?}", files.len());
    assert!(refused.is_empty(), "{} refused:\n{}", refused.len(), refused.join("\n"));
}

/// Values that `beam_lib:md5/1` of OTP 27.3.4 gave.
const CHECKSUMS: [(&str, &str, &str); 6] = [
    ("stdlib-", "lists", "bd3ead6bfd83cf83dd0405860ab057a1"),
    ("stdlib-", "gen_server", "3ce880f679d9a28b3e143e5bddd7d82d"),
    ("kernel-", "code_server", "9f840fa405ca7834f0e64ee531186214"),
    ("erts-", "prim_eval", "55d26c96c0ef361e5aeef951f0e64ade"),
    ("erts-", "erlang", "dc8b7b862b59767a6745dc0e3a82026d"),
    ("compiler-", "beam_validator", "4c3c1bb39eee43bdc449a0fb7761ac19"),
];

#[test]
fn checksums_are_the_stock_ones() {
    let Some(root) = otp_root() else { return };
    if !root.join("lib/stdlib-6.2.2.1").is_dir() {
        println!("skipped: the checksums were recorded for stdlib-6.2.2.1, which is not under {}", root.display());
        return;
    }
    let mut files = Vec::new();
    beams(&root, &mut files);
    for (application, module, expected) in CHECKSUMS {
        let file_name = format!("{module}.beam");
        let is_it = |path: &&PathBuf| path.ends_with(&file_name) && path.to_string_lossy().contains(&format!("/lib/{application}"));
        let path = files.iter().find(is_it).unwrap_or_else(|| panic!("no {file_name} of {application}"));
        let beam = BeamFile::parse(&fs::read(path).expect("readable")).expect("a stock file");
        let md5: String = beam.module_md5().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(md5, expected, "{}", path.display());
        assert_eq!(beam.module(), module);
    }
}
