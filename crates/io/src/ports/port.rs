//! The part of a port that all threads may see. The rest belongs to its task (`port_task`).

use super::Ends;
use super::frame::Piece;
use super::gate::Gate;
use super::options::Packet;
use super::poll::{self, Handler, Interest};
use super::port_task::PortTask;
use crate::ports::tracing;
use heddle_runtime::task::{self, Context, TaskNext};
use heddle_runtime::{Package, send};
use heddle_term::{Atom, Heap, Term, am};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PortKind {
    Program,
    Descriptors,
    Driver,
}

/// How a port was opened, which does not change, and figures that its task publishes. Only the task writes the figures. A thread that
/// reads one while the task runs sees a value that it had at some time.
pub struct Port {
    pub id: u64,
    /// What `port_info(P, name)` says: driver, command, or In/Out.
    pub label: String,
    pub kind: PortKind,
    pub packet: Packet,
    pub binary: bool,
    pub eof: bool,
    pub exit_status: bool,
    /// The option `parallelism`, which has no effect: ports always run beside the processes that use them.
    pub parallelism: bool,
    /// The number of the program; 0 if there is none. Relaxed: a figure.
    pub os_pid: AtomicU64,
    /// True if `port_command` with `force` is allowed: the driver takes data even while the port is busy.
    pub takes_force: bool,
    /// True if the driver gets data in the parts in which it is sent.
    pub takes_parts: bool,
    /// True if `open_port` waits for `started`.
    pub says_started: bool,
    /// The process that opened the port and waits until it has started; 0 if there is none. AcqRel: one thread answers it.
    starter: AtomicU64,
    pub(super) owner: AtomicU64,
    /// What the poller calls, for `Interest::Read` and `Interest::Write`. No port watches for errors alone.
    when_ready: [OnceLock<Handler>; 2],
    pub data: Mutex<Package>,
    pub gate: Gate,
    pub bytes_in: AtomicU64,
    pub bytes_out: AtomicU64,
    pub queued_bytes: AtomicUsize,
}

pub fn set_nonblocking(fd: RawFd) {
    // SAFETY: fcntl on an open descriptor.
    unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK);
    }
}

impl Port {
    pub(super) fn new(number: u64, label: String, kind: PortKind, o: &super::options::PortOptions, ends: &Ends, owner: u64) -> Port {
        Port {
            id: number,
            kind,
            packet: o.packet,
            binary: o.binary,
            eof: o.eof,
            exit_status: o.exit_status,
            parallelism: o.parallelism,
            os_pid: AtomicU64::new(ends.os_pid.unwrap_or(0) as u64),
            takes_force: ends.driver.takes_force(),
            takes_parts: ends.driver.takes_parts(),
            says_started: ends.driver.says_started(),
            starter: AtomicU64::new(if ends.driver.says_started() { owner } else { 0 }),
            label,
            owner: AtomicU64::new(owner),
            when_ready: Default::default(),
            data: Mutex::new(Package::immediate(am::UNDEFINED.into())),
            gate: Gate::new(o.busy_port, o.busy_msgq),
            bytes_in: AtomicU64::new(0),
            bytes_out: AtomicU64::new(0),
            queued_bytes: AtomicUsize::new(0),
        }
    }

    pub fn term(&self) -> Term {
        Term::local_port(self.id)
    }
    /// The port's identity in the process table.
    pub fn identity(&self) -> u64 {
        self.id | heddle_runtime::process::identity::PORT
    }
    pub fn owner(&self) -> u64 {
        // Acquire: pairs with the task's store when a new owner is set.
        self.owner.load(Ordering::Acquire)
    }

    /// Sends `{Port, What}` to the owner.
    pub fn tell_owner(&self, what: impl FnOnce(&mut Heap) -> Term) {
        self.tell(self.owner(), what);
    }
    /// Sends a message of any shape. False if the process has ended.
    pub fn send(&self, to: u64, message: impl FnOnce(&mut Heap) -> Term) -> bool {
        let message = Package::build(message);
        tracing::sent(self.term(), to, message.term());
        send::message_from(self.term(), to, message)
    }
    pub fn tell(&self, to: u64, what: impl FnOnce(&mut Heap) -> Term) {
        let port = self.term();
        self.send(to, |heap| {
            let what = what(heap);
            heap.tuple(&[port, what])
        });
    }

    /// Sends a piece of input to the owner.
    pub fn deliver(&self, piece: Piece<'_>) {
        self.bytes_in.fetch_add(piece.len() as u64, Ordering::Relaxed);
        let bytes = |heap: &mut Heap, b: &[u8]| if self.binary { heap.binary(b) } else { heap.byte_list(b) };
        self.tell_owner(|heap| {
            let data = match piece {
                Piece::Data(b) => bytes(heap, b),
                Piece::Line(whole, b) => {
                    let data = bytes(heap, b);
                    heap.tuple(&[Atom::new(if whole { "eol" } else { "noeol" }).into(), data])
                }
            };
            heap.tuple(&[Atom::new("data").into(), data])
        });
    }

    /// Has the task call `f`, by a signal: so requests are done in the order in which one thread makes them. Does nothing if the task is gone.
    /// May be called by any thread.
    pub fn request(&self, f: impl FnOnce(&mut PortTask, &mut Context<'_>) -> TaskNext + Send + 'static) {
        send::call_in(self.identity(), move |task| {
            if let Some(task) = task {
                task::call(task, f);
            }
        });
    }

    /// The port has started, or has failed to: answers `open_port`, with the port or the name of an error. May be called by any thread.
    pub fn started(&self, answer: Term) {
        let starter = self.starter.swap(0, Ordering::AcqRel);
        if starter != 0 {
            task::answer_to(starter, Package::immediate(answer));
        }
    }

    /// The driver says whether the port is busy. May be called by any thread.
    pub fn set_busy(&self, on: bool) {
        if self.gate.hold(on) {
            // The request comes before what is sent by those that wait.
            self.request(|task, context| task.catch_up(context));
            self.gate.wake_all();
        }
    }

    /// Calls the driver's `ready` once when the descriptor is ready: on the thread that finds that, if no thread has the port. So a packet costs
    /// no switch to the port.
    pub fn watch(&self, fd: RawFd, interest: Interest) {
        let identity = self.identity();
        let handler = self.when_ready[interest as usize]
            .get_or_init(|| Arc::new(move || task::call_soon(identity, move |task: &mut PortTask, context| task.ready(interest, context))));
        let _ = poll::once(fd, interest, handler.clone());
    }
}
