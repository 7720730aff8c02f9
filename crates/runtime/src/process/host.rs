//! What the runtime asks of the crates above it that do more than run code: ports, sets of descriptors, and the crash dump.
//!
//! There are two such traits. This one is implemented by the natives; [`Engine`](crate::sched::Engine) by what runs code. Other functions
//! that are registered at start stand apart for a reason: `exit::add_hook` and `shutdown::at_exit` are lists of listeners. The set of
//! descriptors that idle schedulers wait in (`sched::polling::install`) is there from the first descriptor on. Four functions keep a low
//! folder of this crate free of a higher one (`qsbr`, `time`, `literal_areas`, `trace::sessions`).

use super::Process;
use heddle_term::Term;
use std::io;
use std::os::fd::RawFd;
use std::sync::{Arc, OnceLock};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interest {
    Read,
    Write,
    /// An error or the end of the other side alone.
    Error,
}

/// Called once, on any thread, in a reclamation window (`qsbr`).
pub type Handler = Arc<dyn Fn() + Send + Sync>;

/// What the runtime asks of the natives. Links, monitors and exit signals of ports are those of every process: a port is a task.
/// Without a host there are no ports, and each function does what it says of that case.
pub trait Host: Sync {
    /// `Port ! Message`. False if the port is busy; then nothing was sent. If the sender does not `wait` for the port, the message
    /// is sent anyway. Without a host the message is dropped.
    fn send_to_port(&self, p: &mut Process, port: Term, message: Term, wait: bool) -> bool;
    /// Sends the port bytes from the VM itself, as a tracer gets them. Without a host they are dropped.
    fn output_to_port(&self, port: Term, bytes: Vec<u8>);
    /// Tells the port's tracers that a process linked to the port (`on`), or unlinked.
    fn port_linked(&self, port: Term, from: Term, on: bool);
    /// Calls the handler when the descriptor is ready. Without a host: `Unsupported`.
    fn watch_descriptor(&self, fd: RawFd, interest: Interest, handler: Handler) -> io::Result<()>;
    /// Forgets both interests in the descriptor. Must be called before it is closed.
    fn forget_descriptor(&self, fd: RawFd);
    /// Ends the VM with a slogan and, unless the environment forbids it, a crash dump. Without a host: with the slogan alone.
    fn crash(&self, slogan: &str) -> !;
}

static HOST: OnceLock<&'static dyn Host> = OnceLock::new();

/// The host answers from now on. Called before there are processes.
pub fn install(host: &'static dyn Host) {
    let _ = HOST.set(host);
}

#[inline]
pub fn host() -> &'static dyn Host {
    HOST.get().copied().unwrap_or(&NoHost)
}

/// In tests of this crate and of the engine.
struct NoHost;

impl Host for NoHost {
    fn send_to_port(&self, _: &mut Process, _: Term, _: Term, _: bool) -> bool {
        true
    }
    fn output_to_port(&self, _: Term, _: Vec<u8>) {}
    fn port_linked(&self, _: Term, _: Term, _: bool) {}
    fn watch_descriptor(&self, _: RawFd, _: Interest, _: Handler) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
    fn forget_descriptor(&self, _: RawFd) {}
    fn crash(&self, slogan: &str) -> ! {
        heddle_term::complain!("{slogan}\n");
        crate::base::shutdown::exit_now(1)
    }
}
