//! `heddle precompile`: machine code of libraries, made before programs need it.

use crate::listing::{list, list_part};
use crate::otp::Otp;
use crate::{code_file, emulator, erl, otp};
use heddle_engine::loader::{self, LoadOptions};
use heddle_engine::second_tier::stored;
use heddle_runtime::code::Instance;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

const HELP: &str = "\
Usage: heddle precompile [--output FILE] [--jobs N] [NAME...]

Makes machine code of the functions of modules, and writes it to a file. An emulator that reads the file needs not compile these functions while a
program runs: they have their machine code after a few calls.

A NAME is an application of OTP, a folder with .beam files, or a .beam file. Without names it takes those that most programs use:
{applications}, as far as they are there, and what erts loads first. A file has all that its emulators need: name these, too, with your own (`heddle precompile
kernel stdlib my_server/ebin`).

The file fits this build of Heddle and this kind of processor. Others do not use it, nor does an emulator that loads other modules of these
names: they compile what they need, as without it.

  --output FILE   where it goes; an emulator reads it with +JMfile FILE. Without: beside the program, where emulators find it
  --jobs N        threads (default: processors)
  --help          this text
";

/// Applications that are taken without names.
const APPLICATIONS: [&str; 6] = ["kernel", "stdlib", "compiler", "crypto", "mnesia", "dialyzer"];
/// What erts loads first.
const FIRST: &str = "erts";

pub fn main(args: Vec<OsString>, otp: Option<OsString>) -> ! {
    let fail = |problem: &str| -> ! { erl::fail(&format!("heddle precompile: {problem}")) };
    let (mut output, mut jobs, mut names) = (None, std::thread::available_parallelism().map_or(1, |n| n.get()), Vec::new());
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        match arg.to_str() {
            Some("--output") => output = Some(PathBuf::from(args.next().unwrap_or_else(|| fail("--output needs a file")))),
            Some("--jobs") => {
                let number = args.next().and_then(|number| number.to_str()?.parse().ok()).filter(|jobs| (1..=1024).contains(jobs));
                jobs = number.unwrap_or_else(|| fail("--jobs needs a number from 1 to 1024"));
            }
            Some("--help" | "-h") => {
                list_part!("{}", HELP.replace("{applications}", &APPLICATIONS.join(", ")));
                std::process::exit(0)
            }
            Some(option) if option.starts_with('-') => fail(&format!("unknown option {option} (--output, --jobs, --help)")),
            _ => names.push(PathBuf::from(arg)),
        }
    }
    let otp = otp::find(otp.as_deref().map(Path::new)).unwrap_or_else(|problem| fail(&problem));
    if names.is_empty() {
        // A small tree has not all of them.
        let lib = otp.root.join("lib");
        let there = APPLICATIONS.into_iter().filter(|name| application(Path::new(name), &lib).is_ok());
        names = std::iter::once(FIRST).chain(there).map(PathBuf::from).collect();
    }
    let output =
        output.or_else(code_file::default).unwrap_or_else(|| fail("it is not known where this program stands: name a file (--output)"));
    let files: Vec<PathBuf> = names.iter().flat_map(|name| files_of(name, &otp).unwrap_or_else(|problem| fail(&problem))).collect();
    let made = make(&files, jobs).unwrap_or_else(|problem| fail(&problem));
    write(&output, &made.bytes).unwrap_or_else(|error| fail(&format!("cannot write {}: {error}", output.display())));
    let (functions, megabytes) = (made.functions, made.bytes.len() as f64 / 1e6);
    list!("{functions} functions of {} modules, {megabytes:.1} MB: {}", files.len(), output.display());
    std::process::exit(0)
}

fn make(files: &[PathBuf], jobs: usize) -> Result<stored::make::Made, String> {
    emulator::ready_to_compile();
    let load = |path: &PathBuf| -> Result<Instance, String> {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        loader::prepare_with(&bytes, LoadOptions::default()).map_err(|error| format!("{}: {error}", path.display()))
    };
    let modules = files.iter().map(load).collect::<Result<Vec<_>, _>>()?;
    let shows = std::io::stderr().is_terminal();
    let tell = |done: usize| {
        if shows {
            let _ = write!(std::io::stderr(), "\r{done} of {} modules ", modules.len());
        }
    };
    let made = stored::make::make(&modules, jobs, &tell);
    if shows {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
    made
}

/// The `.beam` files that a name stands for.
fn files_of(name: &Path, otp: &Otp) -> Result<Vec<PathBuf>, String> {
    if name.extension().is_some_and(|extension| extension == "beam") {
        return Ok(vec![name.to_path_buf()]);
    }
    let folder = match name.to_str() {
        Some(FIRST) => otp.preloaded.clone(),
        _ if name.is_dir() => name.to_path_buf(),
        _ => application(name, &otp.root.join("lib"))?,
    };
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|extension| extension == "beam")).collect();
    files.sort();
    if files.is_empty() { Err(format!("no .beam file in {}", folder.display())) } else { Ok(files) }
}

/// The folder of the modules of an application, in its newest version.
fn application(name: &Path, lib: &Path) -> Result<PathBuf, String> {
    let name = name.to_string_lossy();
    let entries = std::fs::read_dir(lib).map_err(|error| format!("{}: {error}", lib.display()))?;
    let version = |folder: &std::ffi::OsStr| -> Option<Vec<u32>> {
        let version = folder.to_str()?.strip_prefix(&*name)?.strip_prefix('-')?;
        version.split('.').map(|number| number.parse().ok()).collect()
    };
    let found = entries.flatten().filter_map(|entry| Some((version(&entry.file_name())?, entry.path().join("ebin"))));
    let newest = found.max().map(|(_, folder)| folder);
    newest.ok_or_else(|| format!("{name} is no .beam file, no folder, and no application in {}", lib.display()))
}

/// Emulators that use the old file go on with it.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let new = path.with_added_extension(format!("new.{}", std::process::id()));
    let written = std::fs::write(&new, bytes).and_then(|()| std::fs::rename(&new, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written
}
