//! Finding OTP's library tree, and saying what is wrong with one.

use std::path::{Path, PathBuf};

/// The release whose libraries this VM runs.
const RELEASE: &str = "27";
/// What brings one.
const HELP: &str = "run `make otp` in Heddle's sources, which fetches one, or say where one is: --otp DIR";

pub struct Otp {
    /// `$ROOT`: holds lib, releases, erts-VSN or bin.
    pub root: PathBuf,
    /// The version of ERTS that the libraries are made for. A release may call the folder of its programs by another one.
    pub erts_version: String,
    /// The folder below `root` whose `bin` has the programs.
    pub erts_folder: String,
    pub release: String,
    /// The folder with the modules that are loaded first.
    pub preloaded: PathBuf,
}

/// The folder of the modules that are loaded first, below the `erts-VSN` of a release that has Heddle in it. Tools that make releases copy all of
/// `erts-VSN/bin`.
const PRELOADED_OF_RELEASE: &str = "bin/preloaded";
/// The file in that folder that says which version of ERTS these modules are of.
const VERSION_FILE: &str = "ERTS_VERSION";

/// Finds OTP's tree as `find_tree` does. If `tools/make-root` has made a root with the libraries of that tree, `Otp::root` is this root: it has
/// Heddle's programs where OTP's tree has those of the stock emulator.
pub fn find(given: Option<&Path>) -> Result<Otp, String> {
    let mut otp = find_tree(given)?;
    let libraries = |root: &Path| root.join("lib").canonicalize();
    let made = above_executable().into_iter().map(|up| up.join("build/root")).find(|root| root.is_dir());
    if let Some(root) = made
        && let (Ok(theirs), Ok(ours)) = (libraries(&otp.root), libraries(&root))
        && theirs == ours
    {
        otp.root = root;
    }
    Ok(otp)
}

/// The folders above the executable in which its other files may be: those of an installed Heddle, or of the sources.
pub fn above_executable() -> Vec<PathBuf> {
    let exe = std::env::current_exe().and_then(|exe| exe.canonicalize());
    exe.iter().flat_map(|exe| exe.ancestors().skip(1).take(4)).map(Path::to_path_buf).collect()
}

/// `--otp` (given), `HEDDLE_OTP`, `erl` on PATH, what `make otp` fetched, the usual places. Of those that were not named the first that will do.
fn find_tree(given: Option<&Path>) -> Result<Otp, String> {
    let env = std::env::var_os("HEDDLE_OTP").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    let named = given.map(|dir| (dir.to_path_buf(), "--otp ")).or_else(|| env.map(|dir| (dir, "HEDDLE_OTP=")));
    if let Some((dir, how)) = named {
        let wrong = match open(&dir) {
            Ok(otp) => return Ok(otp),
            Err(wrong) => wrong.unwrap_or_else(|| "is no Erlang/OTP tree (one has lib/kernel-*/ebin below it)".into()),
        };
        return Err(format!("{how}{} {wrong}; Heddle needs a whole OTP {RELEASE}: {HELP}", dir.display()));
    }
    let mut unfit = None;
    for dir in candidates() {
        match open(&dir) {
            Ok(otp) => return Ok(otp),
            Err(Some(wrong)) => unfit = unfit.or_else(|| Some(format!("{} {wrong}", dir.display()))),
            Err(None) => {}
        }
    }
    let what =
        unfit.unwrap_or_else(|| "no Erlang/OTP tree found (looked at --otp, HEDDLE_OTP, erl on PATH, build/otp, /usr/lib/erlang)".into());
    Err(format!("{what}; Heddle needs a whole OTP {RELEASE}: {HELP}"))
}

fn candidates() -> Vec<PathBuf> {
    let mut candidates: Vec<PathBuf> = Vec::new();
    if let Some(path) = std::env::var_os("PATH") {
        for dir in std::env::split_paths(&path) {
            if let Ok(real) = dir.join("erl").canonicalize() {
                candidates.extend(real.ancestors().skip(1).take(3).map(Path::to_path_buf));
            }
        }
    }
    // A tree that `make otp` fetched beside the sources.
    candidates.extend(above_executable().into_iter().map(|up| up.join("build/otp/usr/lib/erlang")));
    candidates.extend(["/usr/lib/erlang", "/usr/local/lib/erlang", "/opt/erlang", "/usr/lib64/erlang"].map(PathBuf::from));
    candidates
}

/// DIR itself, or the tree inside an unpacked package below it. None: there is nothing; else what is wrong with what is there.
fn open(dir: &Path) -> Result<Otp, Option<String>> {
    let roots = [dir.to_path_buf(), dir.join("usr/lib/erlang"), dir.join("lib/erlang")];
    let mut wrong = None;
    for root in roots {
        match at(&root) {
            Ok(otp) => return Ok(otp),
            Err(problem) => wrong = wrong.or(problem),
        }
    }
    Err(wrong)
}

fn at(root: &Path) -> Result<Otp, Option<String>> {
    let mut libraries: Vec<String> =
        std::fs::read_dir(root.join("lib")).map_err(|_| None)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    libraries.sort_unstable();
    let version = |name: &str| libraries.iter().rev().find_map(|library| library.strip_prefix(name)?.strip_prefix('-'));
    let Some(kernel) = version("kernel") else { return Err(None) };
    // A release that was made of an application has numbers of its own: the kernel tells which OTP it is of.
    let of_kernel = release_of_kernel(root, kernel);
    let release = release(root).or_else(|| of_kernel.clone()).unwrap_or_else(|| "?".into());
    let of_kernel = of_kernel.unwrap_or_else(|| release.clone());
    if of_kernel != RELEASE {
        return Err(Some(format!("is an Erlang/OTP {of_kernel}")));
    }
    let is_release = version("erts").is_none()
        && std::fs::read_dir(root)
            .is_ok_and(|entries| entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("erts-")));
    if is_release && let Some((erts_folder, preloaded)) = made_with_heddle(root) {
        let told = std::fs::read_to_string(preloaded.join(VERSION_FILE)).map(|version| version.trim().to_string());
        let erts_version = told.unwrap_or_else(|_| erts_folder.trim_start_matches("erts-").to_string());
        return Ok(Otp { root: absolute(root), erts_version, erts_folder, release: of_kernel, preloaded });
    }
    let Some(erts_version) = version("erts") else {
        let what = if is_release { "is a release made with" } else { "is an incomplete" };
        return Err(Some(format!("{what} Erlang/OTP {RELEASE}: it lacks lib/erts-*/ebin")));
    };
    let missing =
        [format!("lib/erts-{erts_version}/ebin/init.beam"), format!("lib/kernel-{kernel}/ebin/kernel.app"), "bin/start.boot".into()]
            .into_iter()
            .chain([version("stdlib").map_or_else(|| "lib/stdlib-*".into(), |stdlib| format!("lib/stdlib-{stdlib}/ebin/stdlib.app"))])
            .find(|file| !root.join(file).exists());
    if let Some(missing) = missing {
        return Err(Some(format!("is an incomplete Erlang/OTP {RELEASE}: it lacks {missing}")));
    }
    let erts_version = erts_version.to_string();
    let root = absolute(root);
    let preloaded = root.join(format!("lib/erts-{erts_version}/ebin"));
    let erts_folder = format!("erts-{erts_version}");
    Ok(Otp { root, erts_version, erts_folder, release, preloaded })
}

fn absolute(root: &Path) -> PathBuf {
    root.canonicalize().unwrap_or_else(|_| root.to_path_buf())
}

/// Returns the number of the OTP that a kernel is of. Its `.app` file says which ERTS it needs, and a release may give the kernel a version of
/// its own; only without that the version counts.
fn release_of_kernel(root: &Path, version: &str) -> Option<String> {
    let file = std::fs::read_to_string(root.join(format!("lib/kernel-{version}/ebin/kernel.app"))).unwrap_or_default();
    let erts = file.split_once("\"erts-").and_then(|(_, rest)| major(rest));
    let release = erts.map(|erts| erts + 12).or_else(|| major(version).map(|kernel| kernel + 17));
    release.map(|release| release.to_string())
}

/// The name of the folder with the programs, and the folder with the modules that are loaded first, of a release that has Heddle in it (of `mix release`,
/// `rebar3 release`). If the release has several versions, that of the running executable.
fn made_with_heddle(release: &Path) -> Option<(String, PathBuf)> {
    let folders: Vec<PathBuf> = std::fs::read_dir(release).ok()?.flatten().map(|entry| entry.path()).collect();
    let executable = std::env::current_exe().and_then(|exe| exe.canonicalize()).unwrap_or_default();
    let is_ours = |folder: &&PathBuf| executable.starts_with(absolute(folder));
    folders.iter().filter(is_ours).chain(&folders).find_map(|folder| {
        let name = folder.file_name()?.to_str().filter(|name| name.starts_with("erts-"))?.to_string();
        let preloaded = absolute(&folder.join(PRELOADED_OF_RELEASE));
        preloaded.join("init.beam").exists().then_some((name, preloaded))
    })
}

fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

/// What the tree says of itself.
fn release(root: &Path) -> Option<String> {
    let releases = root.join("releases");
    let told = std::fs::read_to_string(releases.join("start_erl.data")).ok();
    told.and_then(|text| text.split_whitespace().nth(1).map(str::to_string)).or_else(|| {
        let names = std::fs::read_dir(releases).ok()?;
        let numbers = names.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
        numbers.max().map(|number| number.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::find;
    use std::path::Path;

    /// A tree of empty files.
    fn tree(name: &str, files: &[&str]) -> std::path::PathBuf {
        let root = std::env::temp_dir().join(format!("heddle-otp-test-{}-{name}", std::process::id()));
        for file in files {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        root
    }

    fn problem(root: &Path) -> Option<String> {
        let found = find(Some(root)).err();
        std::fs::remove_dir_all(root).unwrap();
        found
    }

    const WHOLE: [&str; 5] = [
        "lib/kernel-10.2/ebin/kernel.app",
        "lib/stdlib-6.2/ebin/stdlib.app",
        "lib/erts-15.2/ebin/init.beam",
        "bin/start.boot",
        "releases/27/x",
    ];

    #[test]
    fn trees_that_do_not_fit_are_named() {
        assert_eq!(problem(&tree("whole", &WHOLE)), None);
        // The second column: what the kernel says it needs. A release may have a kernel with a version of its own.
        for (kernel, erts, release) in
            [("8.5", "13.0.1", 25), ("9.2", "", 26), ("10.99", "", 27), ("10.3", "16.0", 28), ("11.0", "17.0", 29), ("8.4", "15.2", 27)]
        {
            let kernel = format!("lib/kernel-{kernel}/ebin/kernel.app");
            let root = tree(&format!("of-{release}"), &[&kernel, WHOLE[1], WHOLE[2], WHOLE[3]]);
            if !erts.is_empty() {
                std::fs::write(root.join(&kernel), format!("{{runtime_dependencies, [\"erts-{erts}\", \"stdlib-6.0\"]}}")).unwrap();
            }
            let said = problem(&root);
            assert_eq!(said.is_none(), release == 27, "{said:?}");
            assert!(said.is_none_or(|said| said.contains(&format!("is an Erlang/OTP {release};")) && said.contains("make otp")));
        }
        for (left_out, file) in WHOLE.iter().enumerate().take(4) {
            let files: Vec<&str> = WHOLE.iter().filter(|other| *other != file).copied().collect();
            let said = problem(&tree(&format!("without-{left_out}"), &files)).unwrap();
            let named = if left_out == 0 { "no Erlang/OTP tree" } else { "is an incomplete Erlang/OTP 27" };
            assert!(said.contains(named), "{said}");
        }
        let said = problem(&tree("release", &["lib/kernel-10.2/ebin/kernel.app", "erts-15.2/bin/beam.smp", "releases/0.1.0/x"])).unwrap();
        assert!(said.contains("is a release made with Erlang/OTP 27"), "{said}");
        // `target_system` makes releases with a `bin/start.boot`.
        let ours = ["lib/kernel-10.2/ebin/kernel.app", "erts-15.2/bin/preloaded/init.beam", "releases/0.1.0/x", "bin/start.boot"];
        let root = tree("ours", &ours);
        let found = find(Some(&root)).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!((found.erts_version.as_str(), found.release.as_str()), ("15.2", "27"));
        // The name of the folder is the release's own.
        std::fs::write(root.join("erts-15.2/bin/preloaded/ERTS_VERSION"), "15.2.7\n").unwrap();
        let found = find(Some(&root)).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!((found.erts_version.as_str(), found.erts_folder.as_str()), ("15.2.7", "erts-15.2"));
        assert_eq!(problem(&root), None);
        let said = problem(&tree("other", &["lib/other-1.0/ebin/other.app"])).unwrap();
        assert!(said.contains("is no Erlang/OTP tree"), "{said}");
    }
}
