//! Options of `open_port`.

use super::gate::Limits;
use heddle_natives::args;
use heddle_term::{Atom, Term, am, big, list};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packet {
    Stream,
    /// Length header of this many bytes.
    Header(u8),
    /// Lines of at most this many bytes.
    Line(usize),
}

pub struct PortOptions {
    pub packet: Packet,
    pub cd: Option<OsString>,
    pub env: Vec<(OsString, Option<OsString>)>,
    pub args: Option<Vec<OsString>>,
    pub arg0: Option<OsString>,
    pub exit_status: bool,
    pub stdio: bool,
    pub stderr_to_stdout: bool,
    pub input: bool,
    pub output: bool,
    pub binary: bool,
    pub eof: bool,
    pub parallelism: bool,
    pub busy_port: Limits,
    pub busy_msgq: Limits,
}

/// An atom, a deep list of characters or a binary, as bytes for the operating system.
pub fn text(term: Term) -> Option<OsString> {
    if term.is_atom() || term.is_binary() || is_characters(term) {
        crate::files::names::to_native(term).map(OsString::from_vec)
    } else {
        None
    }
}

/// True for a list of characters and of such lists.
fn is_characters(list: Term) -> bool {
    let mut stack = vec![list];
    while let Some(mut t) = stack.pop() {
        while t.is_cons() {
            if t.head().is_cons() || t.head().is_nil() {
                stack.push(t.head());
            } else if t.head().as_small().is_none() {
                return false;
            }
            t = t.tail();
        }
        if !t.is_nil() {
            return false;
        }
    }
    true
}

pub fn parse(settings: Term) -> Option<PortOptions> {
    let mut o = PortOptions {
        packet: Packet::Stream,
        cd: None,
        env: Vec::new(),
        args: None,
        arg0: None,
        exit_status: false,
        stdio: true,
        stderr_to_stdout: false,
        input: false,
        output: false,
        binary: false,
        eof: false,
        parallelism: false,
        busy_port: Limits::USUAL,
        busy_msgq: Limits::USUAL,
    };
    for item in args::list(settings)? {
        if let Some(name) = item.as_atom() {
            match name.name() {
                "stream" => o.packet = Packet::Stream,
                "line" => o.packet = Packet::Line(512),
                "use_stdio" => o.stdio = true,
                "nouse_stdio" => o.stdio = false,
                "stderr_to_stdout" => o.stderr_to_stdout = true,
                "in" => o.input = true,
                "out" => o.output = true,
                "binary" => o.binary = true,
                "eof" => o.eof = true,
                "exit_status" => o.exit_status = true,
                "hide" | "overlapped_io" => {}
                _ => return None,
            }
            continue;
        }
        let (name, value) = args::option(item)?;
        match name.name() {
            "packet" => match value.as_small() {
                Some(n @ (1 | 2 | 4)) => o.packet = Packet::Header(n as u8),
                _ => return None,
            },
            "line" => match args::count(value) {
                Some(n) if n > 0 => o.packet = Packet::Line(n),
                _ => return None,
            },
            "cd" => o.cd = Some(text(value)?),
            "env" => o.env = env(value)?,
            "args" => {
                let items = args::list(value)?;
                o.args = Some(items.into_iter().map(text).collect::<Option<_>>()?);
            }
            "arg0" => o.arg0 = Some(text(value)?),
            "parallelism" => o.parallelism = args::boolean(value)?,
            "busy_limits_port" => o.busy_port = limits(value)?,
            "busy_limits_msgq" => o.busy_msgq = limits(value)?,
            _ => return None,
        }
    }
    if o.stderr_to_stdout && !o.stdio {
        return None;
    }
    if !o.input && !o.output {
        (o.input, o.output) = (true, true);
    }
    Some(o)
}

/// `{Low, High}` in bytes, or `disabled`.
fn limits(term: Term) -> Option<Limits> {
    if term.is_atom_of(Atom::new("disabled")) {
        return Some(Limits::NEVER);
    }
    let &[low, high] = term.as_tuple()? else { return None };
    // Larger numbers than those of small integers are allowed.
    let bytes = |term| big::to_u64(term).map(|bytes| bytes as usize).filter(|&bytes| bytes > 0);
    Some(Limits::new(bytes(low)?, bytes(high)?))
}

fn env(term: Term) -> Option<Vec<(OsString, Option<OsString>)>> {
    let mut out = Vec::new();
    for item in args::list(term)? {
        let &[name, value] = item.as_tuple()? else { return None };
        let name = OsString::from_vec(list::unicode_string(name)?.into_bytes());
        let value = if value.is_atom_of(am::FALSE) { None } else { Some(OsString::from_vec(list::unicode_string(value)?.into_bytes())) };
        out.push((name, value));
    }
    Some(out)
}
