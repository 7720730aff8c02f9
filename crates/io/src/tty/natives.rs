//! The NIFs of prim_tty. The TTY is a magic reference; readiness of standard input and signals are announced by select messages
//! to the process that called tty_select.

use super::modes::{self, Wanted};
use super::{parameters, terminfo};
use crate::files::file::{blocking, ok, ok_with, posix, wait};
use crate::ports::poll::{self, Interest};
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::send::build_message;
use heddle_runtime::{RefId, refs};
use heddle_term::bits::BitsView;
use heddle_term::{Atom, Heap, Resource, Term, am, map};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, RwLock, Weak};

heddle_runtime::natives! { TABLE:
    "prim_tty" => {
        "isatty"/1 => isatty,
        "tty_create"/0 => tty_create,
        "tty_init"/3 => tty_init,
        "tty_set"/1 => tty_set,
        "setlocale"/1 => setlocale,
        "tty_select"/3 => tty_select,
        "tty_window_size"/1 => tty_window_size,
        "tty_encoding"/1 => tty_encoding,
        "write_nif"/2 => write_nif,
        "read_nif"/2 => read_nif,
        "isprint"/1 => isprint,
        "wcwidth"/1 => wcwidth,
        "wcswidth"/1 => wcswidth,
        "sizeof_wchar"/0 => sizeof_wchar,
        "tgetent_nif"/1 => tgetent,
        "tgetnum_nif"/1 => tgetnum,
        "tgetflag_nif"/1 => tgetflag,
        "tgetstr_nif"/1 => tgetstr,
        "tgoto_nif"/1 => tgoto,
        "tgoto_nif"/2 => tgoto,
        "tgoto_nif"/3 => tgoto,
        "tty_read_signal"/2 => tty_read_signal,
    }
}

const STDIN: i32 = 0;
const STDOUT: i32 = 1;

struct Tty {
    id: RefId,
    state: Mutex<TtyState>,
}

#[derive(Default)]
struct TtyState {
    /// Modes that `tty_set` will apply.
    prepared: Option<libc::termios>,
    reader: Option<Reader>,
    signals: VecDeque<&'static str>,
}

#[derive(Clone, Copy)]
struct Reader {
    pid: u64,
    signal: RefId,
    read: RefId,
}

impl Resource for Tty {
    fn type_name(&self) -> &'static str {
        "tty"
    }
}

/// Held while standard input is read: by the shell, or by the break menu for as long as it is shown. What is typed for the menu must not
/// reach the shell, not even while the VM stops.
pub static KEYBOARD: Mutex<()> = Mutex::new(());

/// The terminal that gets window and continue signals: the one selected last.
static SELECTED: Mutex<Weak<Tty>> = Mutex::new(Weak::new());
static TERMINAL: RwLock<Option<terminfo::Terminal>> = RwLock::new(None);

unsafe extern "C" {
    #[link_name = "wcwidth"]
    fn c_wcwidth(c: libc::wchar_t) -> libc::c_int;
}

impl Tty {
    fn term(self: &Arc<Tty>, heap: &mut Heap) -> Term {
        heap.magic_reference(self.id.words(), self.clone())
    }

    /// `{select, TTY, Ref, ready_input}`
    fn announce(self: &Arc<Tty>, pid: u64, reference: RefId) {
        build_message(pid, |heap| {
            let tty = self.term(heap);
            let reference = heap.reference(reference.words());
            heap.tuple(&[Atom::new("select").into(), tty, reference, Atom::new("ready_input").into()])
        });
    }

    fn listen(self: &Arc<Tty>) {
        let tty = self.clone();
        let ready = move || {
            let reader = tty.state.lock().unwrap().reader;
            if let Some(reader) = reader {
                tty.announce(reader.pid, reader.read);
            }
        };
        // SAFETY: fcntl only looks at the number.
        if unsafe { libc::fcntl(STDIN, libc::F_GETFD) } < 0 {
            // It is closed, as a read will report.
            return ready();
        }
        poll::once_at_any_time(STDIN, Interest::Read, Arc::new(ready));
    }
}

/// Called by the thread of signals: the window changed (`winch`), or the job continues (`cont`).
pub fn signal(name: &'static str) {
    let Some(tty) = SELECTED.lock().unwrap().upgrade() else { return };
    let mut state = tty.state.lock().unwrap();
    if let Some(reader) = state.reader {
        state.signals.push_back(name);
        drop(state);
        tty.announce(reader.pid, reader.signal);
    }
}

fn tty_arg(p: &mut Process, term: Term) -> Result<Arc<Tty>, heddle_runtime::process::Thrown> {
    args::resource::<Tty>(term).ok_or_else(|| p.badarg())
}

fn error(p: &mut Process, reason: &str) -> Term {
    p.heap.tuple(&[am::ERROR.into(), Atom::new(reason).into()])
}

fn isatty(p: &mut Process, a: &[Term]) -> NativeResult {
    let fd = match a[0].as_atom().map(|n| n.name()) {
        Some("stdin") => 0,
        Some("stdout") => 1,
        Some("stderr") => 2,
        _ => return Err(p.badarg()),
    };
    // SAFETY: a plain system call.
    if unsafe { libc::isatty(fd) } == 1 {
        return Ok(Term::bool(true));
    }
    if io::Error::last_os_error().raw_os_error() == Some(libc::EBADF) {
        return Ok(Atom::new("ebadf").into());
    }
    Ok(Term::bool(false))
}

fn tty_create(p: &mut Process, _: &[Term]) -> NativeResult {
    let tty = Arc::new(Tty { id: refs::fresh(), state: Mutex::default() });
    let term = tty.term(&mut p.heap);
    Ok(ok_with(p, term))
}

/// (TTY, Fd, #{canon, echo, sig})
fn tty_init(p: &mut Process, a: &[Term]) -> NativeResult {
    let tty = tty_arg(p, a[0])?;
    if !a[1].is_atom() || !a[2].is_map() {
        return Err(p.badarg());
    }
    let option = |name: &str, default: bool| match map::get(a[2], Atom::new(name).into()) {
        Some(value) => args::boolean(value),
        None => Some(default),
    };
    let (Some(canonical), Some(echo), Some(signals)) = (option("canon", false), option("echo", false), option("sig", true)) else {
        return Err(p.badarg());
    };
    match modes::prepare(Wanted { canonical, echo, signals }) {
        Some(prepared) => {
            tty.state.lock().unwrap().prepared = Some(prepared);
            Ok(ok())
        }
        None => Ok(error(p, "enotsup")),
    }
}

fn tty_set(p: &mut Process, a: &[Term]) -> NativeResult {
    let tty = tty_arg(p, a[0])?;
    let prepared = tty.state.lock().unwrap().prepared;
    match prepared {
        Some(prepared) if !modes::apply(&prepared) => {
            let e = io::Error::last_os_error();
            Ok(posix(p, &e))
        }
        _ => Ok(ok()),
    }
}

/// Sets the locale of the environment. The result is true if its encoding is UTF-8.
fn setlocale(p: &mut Process, a: &[Term]) -> NativeResult {
    tty_arg(p, a[0])?;
    // SAFETY: the strings are static; nothing else in this program reads or sets the locale.
    let utf8 = unsafe {
        libc::setlocale(libc::LC_CTYPE, c"".as_ptr());
        let codeset = libc::nl_langinfo(libc::CODESET);
        !codeset.is_null() && matches!(std::ffi::CStr::from_ptr(codeset).to_bytes(), b"UTF-8" | b"utf-8" | b"utf8" | b"UTF8")
    };
    Ok(Term::bool(utf8))
}

fn tty_select(p: &mut Process, a: &[Term]) -> NativeResult {
    let tty = tty_arg(p, a[0])?;
    let (Some(signal), Some(read)) = (RefId::of(a[1]), RefId::of(a[2])) else { return Err(p.badarg()) };
    tty.state.lock().unwrap().reader = Some(Reader { pid: p.pid(), signal, read });
    *SELECTED.lock().unwrap() = Arc::downgrade(&tty);
    if let Some(watch) = super::WATCH_SIGNALS.get() {
        watch();
    }
    tty.listen();
    Ok(ok())
}

fn tty_window_size(p: &mut Process, a: &[Term]) -> NativeResult {
    tty_arg(p, a[0])?;
    match modes::window_size() {
        Some((columns, rows)) => {
            let size = p.heap.tuple(&[Term::small(columns.into()), Term::small(rows.into())]);
            Ok(ok_with(p, size))
        }
        None => Ok(error(p, "enotsup")),
    }
}

fn tty_encoding(p: &mut Process, a: &[Term]) -> NativeResult {
    tty_arg(p, a[0])?;
    Ok(Atom::new("utf8").into())
}

/// (TTY, IoVec): everything is written, on a dirty thread.
fn write_nif(p: &mut Process, a: &[Term]) -> NativeResult {
    tty_arg(p, a[0])?;
    let Some(items) = args::list(a[1]) else { return Err(p.badarg()) };
    let mut bytes = Vec::new();
    for item in items {
        match BitsView::of(item).filter(|b| b.is_binary()) {
            Some(view) => match view.as_bytes() {
                Some(whole) => bytes.extend_from_slice(whole),
                None => bytes.extend(view.to_vec()),
            },
            None => return Err(p.badarg()),
        }
    }
    blocking()?;
    match wait(p, || write_all(&bytes)) {
        Ok(()) => Ok(ok()),
        Err(e) => Ok(posix(p, &e)),
    }
}

fn write_all(mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: writes from a live slice.
        let n = unsafe { libc::write(STDOUT, bytes.as_ptr().cast(), bytes.len()) };
        if n >= 0 {
            bytes = &bytes[n as usize..];
            continue;
        }
        let e = io::Error::last_os_error();
        match e.kind() {
            io::ErrorKind::Interrupted => {}
            io::ErrorKind::WouldBlock => {
                let mut wait = libc::pollfd { fd: STDOUT, events: libc::POLLOUT, revents: 0 };
                // SAFETY: one pollfd.
                unsafe { libc::poll(&mut wait, 1, -1) };
            }
            _ => return Err(e),
        }
    }
    Ok(())
}

/// (TTY, ReadRef): returns the input that has come, and listens again.
fn read_nif(p: &mut Process, a: &[Term]) -> NativeResult {
    let tty = tty_arg(p, a[0])?;
    if RefId::of(a[1]).is_none() {
        return Err(p.badarg());
    }
    blocking()?;
    let mut buffer = [0u8; 4096];
    let read = {
        let _mine = KEYBOARD.lock().unwrap();
        // The menu may have read the input that was announced. A read would wait then, and keep the menu out when it is called again.
        let mut input = libc::pollfd { fd: STDIN, events: libc::POLLIN, revents: 0 };
        // SAFETY: one pollfd, and a buffer of that size.
        let n = unsafe {
            match libc::poll(&mut input, 1, 0) {
                0 => None,
                _ => Some(libc::read(STDIN, buffer.as_mut_ptr().cast(), buffer.len())),
            }
        };
        n.map(|n| usize::try_from(n).map_err(|_| io::Error::last_os_error().kind()))
    };
    let n = match read {
        None | Some(Err(io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)) => 0,
        // The Erlang reader knows this error only.
        Some(Ok(0) | Err(_)) => return Ok(error(p, "closed")),
        Some(Ok(n)) => n,
    };
    tty.listen();
    let binary = p.heap.binary(&buffer[..n]);
    Ok(ok_with(p, binary))
}

/// (TTY, SignalRef): the oldest signal not read yet.
fn tty_read_signal(p: &mut Process, a: &[Term]) -> NativeResult {
    let tty = tty_arg(p, a[0])?;
    let next = tty.state.lock().unwrap().signals.pop_front();
    Ok(ok_with(p, Atom::new(next.unwrap_or("winch")).into()))
}

fn character(p: &mut Process, term: Term) -> Result<i32, heddle_runtime::process::Thrown> {
    term.as_small().and_then(|n| i32::try_from(n).ok()).ok_or_else(|| p.badarg())
}

fn isprint(p: &mut Process, a: &[Term]) -> NativeResult {
    let c = character(p, a[0])?;
    Ok(Term::bool((32..127).contains(&c)))
}

fn columns(c: i32) -> i32 {
    // SAFETY: takes any number.
    unsafe { c_wcwidth(c) }
}

fn wcwidth(p: &mut Process, a: &[Term]) -> NativeResult {
    let c = character(p, a[0])?;
    match columns(c) {
        -1 => Ok(error(p, "not_printable")),
        n => Ok(Term::small(n.into())),
    }
}

/// (Binary of wide characters)
fn wcswidth(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(bytes) = args::binary(a[0]).or_else(|| heddle_term::list::iolist_to_vec(a[0]).ok()) else { return Err(p.badarg()) };
    let mut sum = 0;
    for c in bytes.chunks_exact(4) {
        match columns(i32::from_ne_bytes([c[0], c[1], c[2], c[3]])) {
            -1 => return Ok(error(p, "not_printable")),
            n => sum += i64::from(n),
        }
    }
    Ok(ok_with(p, Term::small(sum)))
}

fn sizeof_wchar(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::small(size_of::<libc::wchar_t>() as i64))
}

/// Characters up to the NUL that ends them.
fn name(p: &mut Process, term: Term) -> Result<Vec<u8>, heddle_runtime::process::Thrown> {
    let Ok(mut bytes) = heddle_term::list::iolist_to_vec(term) else { return Err(p.badarg()) };
    if let Some(end) = bytes.iter().position(|b| *b == 0) {
        bytes.truncate(end);
    }
    Ok(bytes)
}

fn capability<R>(
    p: &mut Process,
    term: Term,
    f: impl FnOnce(&terminfo::Terminal, &str) -> R,
) -> Result<Option<R>, heddle_runtime::process::Thrown> {
    let name = name(p, term)?;
    let terminal = TERMINAL.read().unwrap();
    Ok(match (terminal.as_ref(), std::str::from_utf8(&name)) {
        (Some(terminal), Ok(name)) => Some(f(terminal, name)),
        _ => None,
    })
}

fn tgetent(p: &mut Process, a: &[Term]) -> NativeResult {
    let name = name(p, a[0])?;
    match std::str::from_utf8(&name).ok().and_then(terminfo::find) {
        Some(terminal) => {
            *TERMINAL.write().unwrap() = Some(terminal);
            Ok(ok())
        }
        None => {
            let reason = p.heap.tuple(&[Atom::new("tgetent").into(), Atom::new("eperm").into()]);
            Ok(p.heap.tuple(&[am::ERROR.into(), reason]))
        }
    }
}

fn tgetnum(p: &mut Process, a: &[Term]) -> NativeResult {
    let described = capability(p, a[0], |t, name| t.number(name).map(|n| (n, name.get(..2).map(str::to_owned))))?.flatten();
    let Some((number, code)) = described else { return Ok(Term::small(-1)) };
    // The terminal's real size is used before that of its description.
    let number = match (code.as_deref(), modes::window_size()) {
        (Some("co"), Some((columns, _))) if columns > 0 => columns.into(),
        (Some("li"), Some((_, rows))) if rows > 0 => rows.into(),
        _ => number,
    };
    Ok(Term::small(number.into()))
}

fn tgetflag(p: &mut Process, a: &[Term]) -> NativeResult {
    Ok(Term::bool(capability(p, a[0], |t, name| t.flag(name))?.unwrap_or(false)))
}

fn tgetstr(p: &mut Process, a: &[Term]) -> NativeResult {
    match capability(p, a[0], |t, name| t.string(name).map(<[u8]>::to_vec))?.flatten() {
        Some(text) => {
            let binary = p.heap.binary(&text);
            Ok(ok_with(p, binary))
        }
        None => Ok(Term::bool(false)),
    }
}

/// (Template), (Template, Column), (Template, Column, Row): the row is the first parameter of the template.
fn tgoto(p: &mut Process, a: &[Term]) -> NativeResult {
    let template = name(p, a[0])?;
    let mut values = [0i64; 2];
    for (value, term) in values.iter_mut().zip(&a[1..]) {
        *value = term.as_small().ok_or_else(|| p.badarg())?;
    }
    let text = parameters::expand(&template, &[values[1], values[0]]);
    let binary = p.heap.binary(&text);
    Ok(ok_with(p, binary))
}
