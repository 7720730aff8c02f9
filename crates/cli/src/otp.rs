//! Finding OTP's library tree.

use std::path::{Path, PathBuf};

pub struct Otp {
    /// `$ROOT`: holds lib, releases, erts-VSN or bin.
    pub root: PathBuf,
    pub erts_version: String,
    pub release: String,
}

/// `--otp` (given), `HEDDLE_OTP`, `erl` on PATH, the usual places.
pub fn find(given: Option<&Path>) -> Result<Otp, String> {
    if let Some(dir) = given {
        return open(dir).ok_or_else(|| format!("--otp {}: no OTP tree there (expected lib/kernel-*/ebin below it)", dir.display()));
    }
    if let Some(dir) = std::env::var_os("HEDDLE_OTP").filter(|d| !d.is_empty()) {
        let dir = PathBuf::from(dir);
        return open(&dir).ok_or_else(|| format!("HEDDLE_OTP={}: no OTP tree there (expected lib/kernel-*/ebin below it)", dir.display()));
    }
    let mut candidates: Vec<PathBuf> = Vec::new();
    if let Some(exe) = std::env::current_exe().ok().and_then(|e| e.canonicalize().ok()) {
        // A tree that `make otp` fetched beside the sources.
        for up in exe.ancestors().skip(1).take(4) {
            candidates.push(up.join("build/otp/usr/lib/erlang"));
        }
    }
    if let Some(path) = std::env::var_os("PATH") {
        for dir in std::env::split_paths(&path) {
            let erl = dir.join("erl");
            if let Ok(real) = erl.canonicalize() {
                candidates.extend(real.ancestors().skip(1).take(3).map(Path::to_path_buf));
            }
        }
    }
    candidates.extend(["/usr/lib/erlang", "/usr/local/lib/erlang", "/opt/erlang", "/usr/lib64/erlang"].map(PathBuf::from));
    candidates.iter().find_map(|dir| open(dir)).ok_or_else(|| {
        "no Erlang/OTP library tree found (looked at --otp, HEDDLE_OTP, erl on PATH, /usr/lib/erlang).\n\
         Install one with:  apt-get install erlang-base erlang-dev   (or run `make otp` in Heddle's sources),\n\
         or say where it is:  --otp DIR"
            .to_string()
    })
}

/// DIR itself, or the tree inside an unpacked package below it.
fn open(dir: &Path) -> Option<Otp> {
    for root in [dir.to_path_buf(), dir.join("usr/lib/erlang"), dir.join("lib/erlang")] {
        if let Some(otp) = at(&root) {
            return Some(otp);
        }
    }
    None
}

fn at(root: &Path) -> Option<Otp> {
    let mut kernel = false;
    let mut erts = None;
    for entry in std::fs::read_dir(root.join("lib")).ok()? {
        let name = entry.ok()?.file_name().into_string().ok()?;
        if name.starts_with("kernel-") {
            kernel = true;
        }
        if let Some(version) = name.strip_prefix("erts-") {
            erts = Some(version.to_string());
        }
    }
    if !kernel {
        return None;
    }
    let erts_version = erts?;
    let release = std::fs::read_to_string(root.join("releases/start_erl.data"))
        .ok()
        .and_then(|s| s.split_whitespace().nth(1).map(str::to_string))
        .or_else(|| {
            let mut numbers: Vec<u32> =
                std::fs::read_dir(root.join("releases")).ok()?.filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok()).collect();
            numbers.sort_unstable();
            numbers.pop().map(|n| n.to_string())
        })
        .unwrap_or_else(|| "27".into());
    let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
    Some(Otp { root, erts_version, release })
}
