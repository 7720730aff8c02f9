//! What sockets say of themselves, and settings of all sockets.

use super::address;
use super::answer::{atom, field, map_of, ok, raise_invalid};
use super::counters::{self, figures};
use super::open;
use super::socket::{ReadSide, Socket, WriteSide, state};
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Heap, Term, am};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

heddle_runtime::natives! { TABLE:
    "prim_socket" => {
        "nif_info"/0 => all,
        "nif_info"/1 => of_socket,
        "nif_command"/1 => command,
    }
}

/// Settings of all sockets. Relaxed, all uses: they order nothing.
pub struct Settings {
    debug: AtomicBool,
    pub debug_sockets: AtomicBool,
    /// What `command` set after the start.
    skips_registry: AtomicBool,
}

pub static SETTINGS: Settings =
    Settings { debug: AtomicBool::new(false), debug_sockets: AtomicBool::new(false), skips_registry: AtomicBool::new(false) };

/// True if the environment says at the first use that new sockets are not registered (`ESOCK_USE_SOCKET_REGISTRY`, as `prim_socket`
/// reads it).
static IS_UNREGISTERED_AT_FIRST: LazyLock<()> = LazyLock::new(|| {
    let environment = crate::os::environment();
    let skips = environment.iter().any(|(name, value)| name == "ESOCK_USE_SOCKET_REGISTRY" && value == "false");
    SETTINGS.skips_registry.store(skips, Ordering::Relaxed);
});

impl Settings {
    pub fn use_registry(&self) -> bool {
        LazyLock::force(&IS_UNREGISTERED_AT_FIRST);
        !self.skips_registry.load(Ordering::Relaxed)
    }
}

/// Parts of a vector that one call sends.
pub fn max_parts() -> usize {
    static PARTS: LazyLock<usize> = LazyLock::new(|| {
        // SAFETY: a plain call.
        let parts = unsafe { libc::sysconf(libc::_SC_IOV_MAX) };
        usize::try_from(parts).unwrap_or(16)
    });
    *PARTS
}

fn all(p: &mut Process, _: &[Term]) -> NativeResult {
    let bool = |flag: &AtomicBool| Term::bool(flag.load(Ordering::Relaxed));
    let counters = counters::all(&mut p.heap);
    // The name of stock's implementation for Unix: programs ask for it.
    let backend = map_of(&mut p.heap, &[("name", atom("unix_essio"))]);
    let fields = [
        ("debug", bool(&SETTINGS.debug)),
        ("socket_debug", bool(&SETTINGS.debug_sockets)),
        ("eei", Term::bool(true)),
        ("use_registry", Term::bool(SETTINGS.use_registry())),
        ("iow", Term::bool(false)),
        ("counters", counters),
        ("iov_max", Term::small(max_parts() as i64)),
        ("io_backend", backend),
    ];
    Ok(map_of(&mut p.heap, &fields))
}

/// #{command := debug | socket_debug | use_registry, data := boolean()}
fn command(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(command), Some(data)) = (field(a[0], "command"), field(a[0], "data")) else { return Err(p.badarg()) };
    let truth = args::boolean(data);
    let set = |flag: &AtomicBool, value| flag.store(value, Ordering::Relaxed);
    let wrong = match (command.as_atom().map(|name| name.name()), truth) {
        (Some("debug"), Some(on)) => return Ok(done(|| set(&SETTINGS.debug, on))),
        (Some("socket_debug"), Some(on)) => return Ok(done(|| set(&SETTINGS.debug_sockets, on))),
        (Some("use_registry"), Some(on)) => {
            SETTINGS.use_registry();
            return Ok(done(|| set(&SETTINGS.skips_registry, !on)));
        }
        (Some("debug" | "socket_debug" | "use_registry"), None) => p.heap.tuple(&[atom("data"), data]),
        _ => p.heap.tuple(&[atom("command"), command]),
    };
    Err(raise_invalid(p, wrong))
}

fn done(f: impl FnOnce()) -> Term {
    f();
    ok()
}

fn of_socket(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let created = open::creation(p, &socket);
    let (read, write) = socket.both();
    let heap = &mut p.heap;
    let (read_states, write_states) = (states(heap, read.state), states(heap, write.state));
    let counters = traffic(heap, &read, &write);
    let owner = match socket.owner() {
        0 => am::UNDEFINED.into(),
        pid => Term::local_pid(pid),
    };
    let count = |all: &super::requestors::Requestors| Term::small(all.len() as i64);
    let fields = [
        ("domain", address::domain_term(socket.sort.domain)),
        ("type", address::kind_term(socket.sort.kind)),
        ("protocol", Term::small(socket.sort.protocol.into())),
        ("owner", owner),
        ("rstates", read_states),
        ("wstates", write_states),
        ("ctype", created),
        ("counters", counters),
        ("num_readers", count(&read.readers)),
        ("num_writers", count(&write.writers)),
        ("num_acceptors", count(&read.acceptors)),
    ];
    Ok(map_of(heap, &fields))
}

fn states(heap: &mut Heap, bits: u32) -> Term {
    let names: Vec<Term> = state::NAMES.iter().filter(|name| bits & name.1 != 0).map(|name| atom(name.0)).collect();
    heap.list(&names)
}

fn traffic(heap: &mut Heap, read: &ReadSide, write: &WriteSide) -> Term {
    let (r, w, a) = (&read.traffic, &write.traffic, &read.accepts);
    let mut rows = vec![
        ("read_byte", r.bytes.0),
        ("read_fails", r.fails.0),
        ("read_pkg", r.packages.0),
        ("read_pkg_max", r.largest),
        ("read_tries", r.tries.0),
        ("read_waits", r.waits.0),
        ("write_byte", w.bytes.0),
        ("write_fails", w.fails.0),
        ("write_pkg", w.packages.0),
        ("write_pkg_max", w.largest),
        ("write_tries", w.tries.0),
        ("write_waits", w.waits.0),
        ("acc_success", a.success.0),
        ("acc_fails", a.fails.0),
        ("acc_tries", a.tries.0),
        ("acc_waits", a.waits.0),
    ];
    if let Some(s) = &write.sendfile {
        rows.extend([
            ("sendfile", s.calls),
            ("sendfile_byte", s.bytes),
            ("sendfile_fails", s.fails),
            ("sendfile_max", s.largest),
            ("sendfile_pkg", s.packages),
            ("sendfile_pkg_max", s.largest_package),
            ("sendfile_tries", s.tries),
            ("sendfile_waits", s.waits),
        ]);
    }
    figures(heap, &rows)
}
