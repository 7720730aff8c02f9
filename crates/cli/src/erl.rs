//! `erl`: emulator flags, the rewriting that `erlexec` does, and the start.

use crate::emulator::{self, Config};
use crate::otp;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

pub fn main(args: Vec<OsString>) -> ! {
    let mut config = Config::default();
    let mut flags: Vec<Vec<u8>> = Vec::new();
    let mut otp_dir = None;
    let mut it = args.into_iter().skip(1).peekable();
    while let Some(arg) = it.next() {
        if arg == "--otp" {
            otp_dir = it.next();
            continue;
        }
        flags.push(arg.into_vec());
    }
    let otp = match otp::find(otp_dir.as_deref().map(std::path::Path::new)) {
        Ok(otp) => otp,
        Err(message) => {
            eprintln!("heddle: {message}");
            std::process::exit(1)
        }
    };
    // Environment groups: each ends with `--` (spec 2.2).
    let mut groups: Vec<Vec<Vec<u8>>> = Vec::new();
    let split = |name: &str| -> Vec<Vec<u8>> {
        std::env::var_os(name)
            .map(|v| v.as_bytes().split(|b| b.is_ascii_whitespace()).filter(|w| !w.is_empty()).map(|w| w.to_vec()).collect())
            .unwrap_or_default()
    };
    groups.push(split("ERL_OTP27_FLAGS"));
    groups.push(split("ERL_AFLAGS"));
    groups.push(flags);
    groups.push(split("ERL_FLAGS"));
    groups.push(split("ERL_ZFLAGS"));
    let mut erlang_args: Vec<Vec<u8>> = Vec::new();
    let push = |list: &mut Vec<Vec<u8>>, words: &[&[u8]]| list.extend(words.iter().map(|w| w.to_vec()));
    let bindir = otp.root.join(format!("erts-{}/bin", otp.erts_version));
    push(
        &mut erlang_args,
        &[b"--", b"-root", otp.root.as_os_str().as_bytes(), b"-bindir", bindir.as_os_str().as_bytes(), b"-progname", b"erl", b"--"],
    );
    if let Some(home) = std::env::var_os("HOME") {
        push(&mut erlang_args, &[b"-home", home.as_bytes()]);
    }
    push(&mut erlang_args, &[b"--"]);
    let mut extra = Vec::new();
    for (i, group) in groups.iter().enumerate() {
        if group.is_empty() && i != 2 {
            continue;
        }
        if let Err(message) = rewrite(group, &mut config, &mut erlang_args, &mut extra) {
            eprintln!("{message}");
            std::process::exit(1);
        }
        push(&mut erlang_args, &[b"--"]);
    }
    // Everything from -extra on stays the end of the line.
    erlang_args.extend(extra);
    emulator::start(config, &otp, erlang_args)
}

/// Emulator flags go to `config`, the rest to `out`.
fn rewrite(group: &[Vec<u8>], config: &mut Config, out: &mut Vec<Vec<u8>>, extra: &mut Vec<Vec<u8>>) -> Result<(), String> {
    let mut i = 0;
    while i < group.len() {
        let arg = &group[i];
        i += 1;
        if arg == b"-extra" {
            extra.push(arg.clone());
            extra.extend_from_slice(&group[i..]);
            break;
        }
        if arg.first() == Some(&b'+') && arg.len() > 1 {
            i += crate::emulator::flag(config, arg, group.get(i))?;
            continue;
        }
        match arg.as_slice() {
            b"-noinput" => out.extend([b"-noshell".to_vec(), b"-noinput".to_vec()]),
            b"-env" => {
                let (Some(k), Some(v)) = (group.get(i), group.get(i + 1)) else { return Err("-env needs a name and a value".into()) };
                config.env.push((OsString::from_vec(k.clone()), OsString::from_vec(v.clone())));
                i += 2;
            }
            b"-smp" => {
                if group.get(i).is_some_and(|v| matches!(v.as_slice(), b"enable" | b"auto" | b"disable")) {
                    if group[i] == b"disable" {
                        return Err("-smp disable: there is no emulator without threads; use +S 1 for one scheduler".into());
                    }
                    i += 1;
                }
            }
            b"-make" => {
                out.extend([b"-noshell".to_vec(), b"-noinput".to_vec()]);
                out.extend([b"-s".to_vec(), b"make".to_vec(), b"all_or_nothing".to_vec(), b"-s".to_vec(), b"erlang".to_vec(), b"halt".to_vec()]);
                break;
            }
            b"-version" => {
                println!("Erlang (SMP,ASYNC_THREADS) (HEDDLE) emulator version {}", env!("CARGO_PKG_VERSION"));
                std::process::exit(0);
            }
            _ => out.push(arg.clone()),
        }
    }
    Ok(())
}
