//! Natives of the module `os`: the environment and the process id; and the encoding of file names.

use heddle_runtime::locks::LockClass;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Atom, Term, list};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::RwLock;

heddle_runtime::natives! { TABLE:
    "os" => {
        "getenv"/1 => getenv,
        "putenv"/2 => putenv,
        "unsetenv"/1 => unsetenv,
        "env"/0 => env,
        "getpid"/0 => getpid,
    }
    "file" => { "native_name_encoding"/0 => native_name_encoding }
}

/// The environment that Erlang programs see and change. It is a copy: the operating system's own must not change while other threads
/// read it.
static ENV: RwLock<Option<std::collections::BTreeMap<OsString, OsString>>> = RwLock::new(None);

fn with_env<R>(f: impl FnOnce(&mut std::collections::BTreeMap<OsString, OsString>) -> R) -> R {
    let mut env = LockClass::Environment.write(&ENV);
    f(env.get_or_insert_with(|| std::env::vars_os().collect()))
}

/// The value of a variable.
pub fn variable(name: &[u8]) -> Option<Vec<u8>> {
    with_env(|env| env.get(OsStr::from_bytes(name)).map(|value| value.as_bytes().to_vec()))
}

/// Sets a variable.
pub fn set_variable(name: &[u8], value: &[u8]) {
    with_env(|env| env.insert(OsStr::from_bytes(name).into(), OsStr::from_bytes(value).into()));
}

/// The environment for programs that are started.
pub fn environment() -> Vec<(OsString, OsString)> {
    with_env(|env| env.iter().map(|(k, v)| (k.clone(), v.clone())).collect())
}

/// Characters of a string, UTF-8 encoded; None for anything else, an embedded NUL, or (for names) '='.
fn text(term: Term) -> Option<Vec<u8>> {
    let text = list::unicode_string(term)?;
    (!text.contains('\0')).then(|| text.into_bytes())
}

/// Bytes from the system as a string: characters if they are UTF-8, else one character a byte.
fn string(p: &mut Process, bytes: &[u8]) -> Term {
    match std::str::from_utf8(bytes) {
        Ok(text) => p.heap.string(text),
        Err(_) => p.heap.byte_list(bytes),
    }
}

fn getenv(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(name) = text(a[0]).filter(|n| !n.contains(&b'=') || n.first() == Some(&b'=')) else { return Err(p.badarg()) };
    match with_env(|env| env.get(OsStr::from_bytes(&name)).cloned()) {
        Some(value) => Ok(string(p, value.as_bytes())),
        None => Ok(Term::bool(false)),
    }
}

fn putenv(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(name), Some(value)) = (text(a[0]), text(a[1])) else { return Err(p.badarg()) };
    if name.is_empty() || name.contains(&b'=') {
        return Err(p.badarg());
    }
    with_env(|env| env.insert(OsString::from_vec(name), OsString::from_vec(value)));
    Ok(Term::bool(true))
}

fn unsetenv(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(name) = text(a[0]).filter(|n| !n.is_empty() && !n.contains(&b'=')) else { return Err(p.badarg()) };
    with_env(|env| env.remove(OsStr::from_bytes(&name)));
    Ok(Term::bool(true))
}

fn env(p: &mut Process, _: &[Term]) -> NativeResult {
    let all = environment();
    let mut pairs = Vec::with_capacity(all.len());
    for (k, v) in all {
        let (k, v) = (string(p, k.as_bytes()), string(p, v.as_bytes()));
        pairs.push(p.heap.tuple(&[k, v]));
    }
    Ok(p.heap.list(&pairs))
}

fn getpid(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(p.heap.string(&std::process::id().to_string()))
}

fn native_name_encoding(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Atom::new(if crate::files::names::is_utf8() { "utf8" } else { "latin1" }).into())
}
