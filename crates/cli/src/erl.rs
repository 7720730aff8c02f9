//! `erl`: the rewriting of the command line that `erlexec` does, and the start.

use crate::emulator::{self, Config};
use crate::listing::{list, list_part};
use crate::otp::{self, Otp};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

type Words = Vec<Vec<u8>>;

/// What the command line came to.
#[derive(Default)]
struct Line {
    config: Config,
    /// Emulator flags as stock would pass them, for `-emu_args`.
    flags: Words,
    args: Words,
    /// What follows an `-extra`, of all groups in turn: it comes after everything else.
    extra: Words,
    /// The command line's `-S` and what follows: the very last.
    start: Option<Words>,
    detached: bool,
    print: Print,
    epmd: Option<bool>,
    distributed: bool,
}

/// Where a group of arguments was: `-S` is only special on the command line itself, not in variables and files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    CommandLine,
    Elsewhere,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Print {
    #[default]
    Nothing,
    Arguments,
    ArgumentsOnly,
    CommandOnly,
}

pub fn fail(message: &str) -> ! {
    heddle_term::complain!("{message}\n");
    std::process::exit(1)
}

pub fn find_otp(given: Option<&OsStr>) -> Otp {
    otp::find(given.map(Path::new)).unwrap_or_else(|message| fail(&format!("heddle: {message}")))
}

/// `args`: without the program's name.
pub fn main(args: Vec<OsString>, mut otp_dir: Option<OsString>) -> ! {
    let mut words: Words = Vec::new();
    let mut it = args.into_iter();
    while let Some(arg) = it.next() {
        if arg == "--otp" {
            otp_dir = it.next();
        } else {
            let rest_is_plain = arg == "-extra" || arg == "-S";
            words.push(arg.into_vec());
            if rest_is_plain {
                words.extend(it.by_ref().map(OsStringExt::into_vec));
            }
        }
    }
    let otp = find_otp(otp_dir.as_deref());
    set_environment(&otp);
    let from_env = |name: &str| -> Words {
        let text = std::env::var_os(name).unwrap_or_default();
        split_words(text.as_bytes())
    };
    let mut line = Line::default();
    for (i, group) in
        [from_env("ERL_OTP27_FLAGS"), from_env("ERL_AFLAGS"), words, from_env("ERL_FLAGS"), from_env("ERL_ZFLAGS")].iter().enumerate()
    {
        if group.is_empty() && i != 2 {
            continue;
        }
        let from = if i == 2 { From::CommandLine } else { From::Elsewhere };
        line.rewrite(group, from).unwrap_or_else(|message| fail(&message));
    }
    // After the flags, as `-env` may set them. A flag is more than its variable; what is no number counts for nothing, as in stock.
    for (variable, flag) in [("ERL_MAX_ETS_TABLES", "e"), ("ERL_MAX_PORTS", "Q")] {
        let is_given = line.flags.iter().any(|given| given.strip_prefix(b"-") == Some(flag.as_bytes()));
        if !is_given && let Ok(value) = std::env::var(variable) {
            let _ = emulator::flag(&mut line.config, format!("+{flag}").as_bytes(), Some(&value.into_bytes()));
        }
    }
    let bindir = bindir(&otp);
    let mut all: Words = Vec::new();
    let progname = std::env::var_os("PROGNAME").unwrap_or_else(|| "erl".into());
    let push = |list: &mut Words, words: &[&[u8]]| list.extend(words.iter().map(|w| w.to_vec()));
    push(&mut all, &[b"--", b"-root", otp.root.as_os_str().as_bytes(), b"-bindir", bindir.as_bytes()]);
    push(&mut all, &[b"-progname", progname.as_bytes(), b"--"]);
    if let Some(home) = std::env::var_os("HOME") {
        push(&mut all, &[b"-home", home.as_bytes()]);
    }
    if let Some(port) = std::env::var_os("ERL_EPMD_PORT") {
        push(&mut all, &[b"-epmd_port", port.as_bytes()]);
    }
    if let Some(folder) = own_modules() {
        push(&mut all, &[b"-pz", folder.as_os_str().as_bytes()]);
    }
    all.push(b"--".to_vec());
    all.extend(std::mem::take(&mut line.args));
    all.extend(line.last());
    match line.print {
        Print::Nothing => {}
        Print::Arguments | Print::ArgumentsOnly => {
            for word in line.flags.iter().chain(&all) {
                list!("{}", String::from_utf8_lossy(word));
            }
        }
        Print::CommandOnly => {
            let exe = std::env::current_exe().unwrap_or_default();
            list_part!("\"{}\" ", exe.display());
            for word in line.flags.iter().chain(&all) {
                list_part!("\"{}\" ", String::from_utf8_lossy(word));
            }
            list!();
        }
    }
    if matches!(line.print, Print::ArgumentsOnly | Print::CommandOnly) {
        std::process::exit(0);
    }
    if line.distributed && line.epmd != Some(false) {
        start_epmd();
    }
    if line.detached {
        detach();
    }
    emulator::start(line.config, &otp, &line.flags, all)
}

pub fn bindir(otp: &Otp) -> OsString {
    otp.root.join(&otp.erts_folder).join("bin").into_os_string()
}

/// What programs started by Erlang code find: this VM as `erl`, the same library tree.
fn set_environment(otp: &Otp) {
    let mut path = Vec::new();
    if let Some(dir) = programs() {
        path.push(dir);
    }
    let old = std::env::var_os("PATH").unwrap_or_default();
    let bindir = bindir(otp);
    path.push(bindir.clone().into());
    path.extend(std::env::split_paths(&old).filter(|dir| !path.contains(dir)).collect::<Vec<_>>());
    // SAFETY: no other thread runs yet.
    unsafe {
        if let Ok(path) = std::env::join_paths(path) {
            std::env::set_var("PATH", path);
        }
        std::env::set_var("ROOTDIR", &otp.root);
        std::env::set_var("BINDIR", bindir);
        std::env::set_var("EMU", "beam");
        std::env::set_var("HEDDLE_OTP", &otp.root);
        if std::env::var_os("PROGNAME").is_none() {
            std::env::set_var("PROGNAME", "erl");
        }
    }
}

/// The folder with our `erl`, `erlc` and `escript`.
pub fn programs() -> Option<std::path::PathBuf> {
    let is_ours = |dir: &std::path::PathBuf| dir.join("erl").is_file();
    otp::above_executable().into_iter().flat_map(|up| [up.clone(), up.join("bin")]).find(is_ours)
}

/// The folder with compiled modules of Heddle's own: their documentation, for the shell and tools. It is there after `make`
/// (tools/compile-modules).
fn own_modules() -> Option<std::path::PathBuf> {
    let folder = programs()?.parent()?.join("lib/heddle/ebin");
    folder.join("heddle.app").is_file().then_some(folder)
}

pub fn print_version() -> ! {
    let otp = find_otp(None);
    heddle_term::complain!("Erlang (SMP,ASYNC_THREADS) (HEDDLE) emulator version {}\n", otp.erts_version);
    std::process::exit(0);
}

/// Words of an argument file or variable: blanks separate, quotes and backslashes protect, `#` begins a comment.
fn split_words(text: &[u8]) -> Words {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut it = text.iter().copied();
    while let Some(b) = it.next() {
        match b {
            b'#' if word.is_none() => {
                it.by_ref().find(|b| *b == b'\n');
            }
            b'\\' => word.get_or_insert_default().extend(it.next()),
            b'\'' => word.get_or_insert_default().extend(it.by_ref().take_while(|b| *b != b'\'')),
            b'"' => {
                let word = word.get_or_insert_default();
                while let Some(b) = it.next() {
                    match b {
                        b'"' => break,
                        b'\\' => word.extend(it.next()),
                        _ => word.push(b),
                    }
                }
            }
            b if b.is_ascii_whitespace() => words.extend(word.take()),
            b => word.get_or_insert_default().push(b),
        }
    }
    words.extend(word);
    words
}

impl Line {
    fn push(&mut self, words: &[&[u8]]) {
        self.args.extend(words.iter().map(|w| w.to_vec()));
    }

    fn plain_break(&mut self) -> Result<(), String> {
        self.flags.push(b"-B".to_vec());
        emulator::flag(&mut self.config, b"+B", None).map(|_| ())
    }

    /// One group of arguments. Groups end with a separator, and there is one more where the command line's own end is plain.
    fn rewrite(&mut self, group: &[Vec<u8>], from: From) -> Result<(), String> {
        let ended_early = self.words(group, from)?;
        self.push(&[b"--"]);
        if ended_early && from == From::CommandLine {
            self.push(&[b"--"]);
        }
        Ok(())
    }

    /// `-extra` and its words, `-S` and its words. After an `-extra` the latter is spelt `++S`, or it would be plain.
    fn last(&mut self) -> Words {
        let mut last = Words::new();
        let option: &[&[u8]] = if self.extra.is_empty() { &[b"-noshell", b"-S"] } else { &[b"++S"] };
        if !self.extra.is_empty() {
            last.push(b"-extra".to_vec());
            last.append(&mut self.extra);
        }
        if let Some(start) = self.start.take() {
            last.extend(option.iter().map(|w| w.to_vec()));
            last.extend(start);
        }
        last
    }

    /// True if `-extra` or `-S` ended the group.
    fn words(&mut self, group: &[Vec<u8>], from: From) -> Result<bool, String> {
        let mut i = 0;
        while i < group.len() {
            let arg = group[i].as_slice();
            i += 1;
            let value =
                |what: &str| group.get(i).cloned().ok_or_else(|| format!("heddle: {} needs a value: {what}", String::from_utf8_lossy(arg)));
            match arg {
                b"-extra" => {
                    self.extra.extend_from_slice(&group[i..]);
                    return Ok(true);
                }
                [b'+', _, ..] => {
                    let used = emulator::flag(&mut self.config, arg, group.get(i))?;
                    self.flags.push([b"-", &arg[1..]].concat());
                    self.flags.extend_from_slice(&group[i..i + used]);
                    i += used;
                }
                b"-noinput" => self.push(&[b"-noshell", b"-noinput"]),
                b"-detached" => {
                    self.detached = true;
                    self.push(&[b"-detached", b"-noshell", b"-noinput"]);
                }
                b"-configfd" => {
                    if value("a descriptor")? == b"0" {
                        self.push(&[b"-noshell", b"-noinput"]);
                    }
                    self.push(&[arg]);
                }
                b"-compile" => {
                    self.plain_break()?;
                    self.push(&[b"-noshell", b"-noinput", b"-s", b"c", b"lc_batch"]);
                }
                b"-make" => {
                    self.plain_break()?;
                    self.push(&[b"-noshell", b"-noinput", b"-s", b"make", b"all_or_nothing", b"-s", b"erlang", b"halt"]);
                    break;
                }
                b"-S" if from == From::CommandLine => {
                    self.start = Some(group[i..].iter().map(|w| if w == b"--" { b"\\--".to_vec() } else { w.clone() }).collect());
                    return Ok(true);
                }
                b"-env" => {
                    let (name, value) = (value("a name")?, group.get(i + 1).cloned().unwrap_or_default());
                    // SAFETY: no other thread runs yet.
                    unsafe { std::env::set_var(OsString::from_vec(name), OsString::from_vec(value)) };
                    i = (i + 2).min(group.len());
                }
                b"-args_file" => {
                    let path = OsString::from_vec(value("a file")?);
                    i += 1;
                    let text = std::fs::read(&path).map_err(|e| format!("heddle: -args_file {}: {e}", path.display()))?;
                    self.words(&split_words(&text), From::Elsewhere)?;
                }
                b"-smp" => match group.get(i).map(Vec::as_slice) {
                    Some(b"enable" | b"auto") => i += 1,
                    Some(b"disable") => {
                        self.config.sequential = true;
                        i += 1;
                    }
                    _ => {}
                },
                b"-emu_args" => self.print = Print::Arguments,
                b"-emu_args_exit" => self.print = Print::ArgumentsOnly,
                b"-emu_qouted_cmd_exit" => self.print = Print::CommandOnly,
                b"-emu_name_exit" => {
                    list!("heddle");
                    std::process::exit(0);
                }
                b"-version" => print_version(),
                b"-sname" | b"-name" => {
                    self.distributed = true;
                    self.push(&[arg]);
                }
                b"-no_epmd" => {
                    self.epmd = Some(false);
                    self.push(&[arg]);
                }
                b"-start_epmd" => {
                    match value("true or false")?.as_slice() {
                        b"true" => self.epmd = Some(true),
                        b"false" => self.epmd = Some(false),
                        _ => return Err("heddle: -start_epmd: true or false".into()),
                    }
                    self.push(&[arg]);
                }
                // The separator that front ends put in needs no other treatment than its place.
                _ => self.args.push(arg.to_vec()),
            }
        }
        Ok(false)
    }
}

/// Starts the name server of nodes in the background, as erlexec does before a node with a name. One that runs already stays.
fn start_epmd() {
    use std::process::{Command, Stdio};
    let Ok(program) = std::env::current_exe() else { return };
    let started = Command::new(program).args(["epmd", "-daemon"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if let Err(error) = started {
        heddle_term::complain!("heddle: epmd, the name server of nodes, does not start: {error}\n");
    }
}

/// The VM goes on without its terminal, as a child of no process. No thread runs yet.
pub fn detach() {
    // SAFETY: plain system calls in a process with one thread.
    unsafe {
        for round in 0..2 {
            match libc::fork() {
                -1 => fail(&format!("heddle: -detached: {}", std::io::Error::last_os_error())),
                0 => {}
                _ => libc::_exit(0),
            }
            if round == 0 {
                libc::setsid();
            }
        }
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for fd in 0..3 {
            libc::dup2(null, fd);
        }
        if null > 2 {
            libc::close(null);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::split_words;

    #[test]
    fn words_of_files() {
        let words = split_words(b"-x \"a b\" c\\ d # more\n+P 5 'e \\f' g#h\n");
        let words: Vec<&str> = words.iter().map(|w| std::str::from_utf8(w).unwrap()).collect();
        assert_eq!(words, ["-x", "a b", "c d", "+P", "5", "e \\f", "g#h"]);
    }
}
