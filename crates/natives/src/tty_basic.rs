//! The part of prim_tty that runs without a terminal.

use crate::args;
use crate::io::file::{blocking, ok_with};
use crate::ports::poll::{self, Interest};
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::{Package, RefId, refs, send};
use heddle_term::bits::BitsView;
use heddle_term::{Atom, Resource, Term, am};
use std::sync::{Arc, Mutex};

heddle_runtime::natives! { TABLE:
    "prim_tty" => {
        "isatty"/1 => isatty,
        "tty_create"/0 => tty_create,
        "setlocale"/1 => setlocale,
        "tty_select"/3 => tty_select,
        "tty_encoding"/1 => tty_encoding,
        "read_nif"/2 => read,
        "write_nif"/2 => write,
        "tty_window_size"/1 => tty_window_size,
    }
}

struct Tty {
    reader: Mutex<Option<(u64, Package)>>,
}
impl Resource for Tty {
    fn type_name(&self) -> &'static str {
        "tty"
    }
}

fn isatty(p: &mut Process, a: &[Term]) -> NativeResult {
    let fd = match a[0].as_atom().map(|x| x.name()) {
        Some("stdin") => 0,
        Some("stdout") => 1,
        Some("stderr") => 2,
        _ if args::resource::<Tty>(a[0]).is_some() => 0,
        _ => return Err(p.badarg()),
    };
    Ok(Term::bool(unsafe { libc::isatty(fd) } == 1))
}
fn tty_create(p: &mut Process, _: &[Term]) -> NativeResult {
    let t = p.heap.magic_reference(refs::fresh().words(), Arc::new(Tty { reader: Mutex::new(None) }));
    Ok(ok_with(p, t))
}
fn setlocale(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::bool(true))
}
fn tty_encoding(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Atom::new("utf8").into())
}
fn tty_window_size(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(p.heap.tuple(&[am::ERROR.into(), Atom::new("enotsup").into()]))
}
fn arm(tty: Term, to: u64, reference: Term) {
    let message = Package::build(|heap| {
        let tty = heap.copy(tty);
        let reference = heap.copy(reference);
        heap.tuple(&[Atom::new("select").into(), tty, reference, Atom::new("ready_input").into()])
    });
    let message = Mutex::new(Some(message));
    poll::once(
        0,
        Interest::Read,
        Arc::new(move || {
            if let Some(m) = message.lock().unwrap().take() {
                send::message_to_pid(to, m);
            }
        }),
    );
}
fn tty_select(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(t) = args::resource::<Tty>(a[0]) else { return Err(p.badarg()) };
    *t.reader.lock().unwrap() = Some((p.pid(), Package::new(a[2])));
    arm(a[0], p.pid(), a[2]);
    Ok(am::OK.into())
}
fn read(p: &mut Process, a: &[Term]) -> NativeResult {
    blocking()?;
    let mut buffer = vec![0u8; 1024];
    let n = unsafe { libc::read(0, buffer.as_mut_ptr().cast(), buffer.len()) };
    if n <= 0 {
        return Ok(p.heap.tuple(&[am::ERROR.into(), Atom::new("closed").into()]));
    }
    arm(a[0], p.pid(), a[1]);
    let b = p.heap.binary(&buffer[..n as usize]);
    Ok(ok_with(p, b))
}
fn write(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(items) = args::list(a[1]) else { return Err(p.badarg()) };
    blocking()?;
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    for item in items {
        let Some(b) = BitsView::of(item) else { return Err(p.badarg()) };
        let _ = out.write_all(&b.to_vec());
    }
    let _ = out.flush();
    Ok(am::OK.into())
}
#[allow(unused)]
fn unused(_: RefId) {}
