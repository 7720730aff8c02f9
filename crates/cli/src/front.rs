//! `erlc` and `escript`: arguments for `erl`.

use crate::erl;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;

fn words(list: &[&str]) -> Vec<OsString> {
    list.iter().map(OsString::from).collect()
}

/// Runs the emulator that `variable` names, or this one.
fn start(variable: &str, name: &OsStr, args: Vec<OsString>, otp: Option<OsString>) -> ! {
    // SAFETY: no other thread runs yet.
    unsafe { std::env::set_var("ESCRIPT_NAME", name) };
    match std::env::var_os(variable).filter(|v| !v.is_empty()) {
        Some(emulator) => {
            let error = std::process::Command::new(&emulator).args(&args).exec();
            erl::fail(&format!("heddle: {variable}={}: {error}", emulator.display()))
        }
        None => erl::main(args, otp),
    }
}

/// Paths go to the emulator, the rest to the compiler.
pub fn erlc(args: Vec<OsString>, otp: Option<OsString>) -> ! {
    let mut emulator = words(&["+S1"]);
    let mut compiler: Vec<OsString> = Vec::new();
    let mut it = args.into_iter();
    while let Some(arg) = it.next() {
        match arg.as_bytes() {
            b"-pa" | b"-pz" => {
                let Some(dir) = it.next() else { erl::fail(&format!("erlc: {} needs a directory", arg.display())) };
                emulator.extend([arg, dir]);
            }
            b"-smp" => {}
            b"-server" | b"-no-server" => {}
            _ => compiler.push(arg),
        }
    }
    emulator.extend(words(&["+sbtu", "+A0", "-noinput", "-mode", "minimal", "-boot", "no_dot_erlang"]));
    emulator.extend(words(&["-s", "erl_compile", "compile_cmdline", "-extra"]));
    emulator.extend(compiler);
    if let Some(path) = std::env::var_os("PATH") {
        // SAFETY: no other thread runs yet.
        unsafe { std::env::set_var("ERLC_CONFIGURATION", path) };
    }
    start("ERLC_EMULATOR", OsStr::new("erlc"), emulator, otp)
}

pub fn escript(args: Vec<OsString>, otp: Option<OsString>) -> ! {
    let mut it = args.into_iter().peekable();
    let mut options: Vec<OsString> = Vec::new();
    while let Some(option) = it.next_if(|a| a.as_bytes().starts_with(b"-") && a.len() > 1) {
        options.push(OsString::from_vec(option.as_bytes()[1..].to_vec()));
    }
    let Some(file) = it.next() else { erl::fail("escript: Missing filename\n") };
    let Ok(text) = std::fs::read(&file) else { erl::fail(&format!("escript: Failed to open file: {}", file.display())) };
    let mut all = words(&["+B", "-noshell", "-boot", "no_dot_erlang"]);
    all.extend(emulator_arguments(&text));
    all.extend(words(&["-run", "escript", "start"]));
    all.extend(options);
    all.push("-extra".into());
    all.push(file.clone());
    all.extend(it);
    start("ESCRIPT_EMULATOR", &file, all, otp)
}

/// The `%%!` line: the second one, or the third after another comment.
fn emulator_arguments(text: &[u8]) -> Vec<OsString> {
    let mut lines = text.splitn(4, |b| *b == b'\n').skip(1);
    let second = lines.next().unwrap_or(b"");
    let line = match second.strip_prefix(b"%%!") {
        Some(rest) => Some(rest),
        None if second.starts_with(b"%%") => lines.next().and_then(|third| third.strip_prefix(b"%%!")),
        None => None,
    };
    line.unwrap_or(b"").split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).map(|w| OsString::from_vec(w.to_vec())).collect()
}

#[cfg(test)]
mod tests {
    use super::emulator_arguments;

    #[test]
    fn emulator_line() {
        assert_eq!(emulator_arguments(b"#!/x\n%%! -sname a +S 2\nmain"), ["-sname", "a", "+S", "2"]);
        assert_eq!(emulator_arguments(b"#!/x\n%% -*- erlang -*-\n%%!-x\r\nmain"), ["-x"]);
        assert!(emulator_arguments(b"%%! -x\nmain").is_empty());
        assert!(emulator_arguments(b"#!/x\nmain\n%%! -x").is_empty());
        assert!(emulator_arguments(b"").is_empty());
    }
}
