//! A socket: a magic reference, its descriptor, and what happens in its two directions.
//!
//! One lock a direction, so that a sender and a receiver do not wait for each other. A thread that needs both takes that for reading first. What
//! must change in both at once (the descriptor, whether it is open) changes with both locks held.

use super::block::Block;
use super::counters::{self, Accepts, Counter, SendfileFigures, Sort, Traffic};
use super::messages;
use super::requestors::{Requestor, Requestors};
use super::watch;
use crate::ports::poll::{self, Interest};
use heddle_natives::args;
use heddle_runtime::lock_order::Ordered;
use heddle_runtime::locks::LockClass;
use heddle_runtime::process::{Process, Thrown};
use heddle_runtime::{Package, RefId, refs};
use heddle_term::{Heap, Resource, Term};
use std::os::fd::{OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// What a direction of a socket is in, as bits. `info` shows them.
pub mod state {
    pub const BOUND: u32 = 1;
    pub const LISTENING: u32 = 1 << 1;
    pub const ACCEPTING: u32 = 1 << 2;
    pub const CONNECTING: u32 = 1 << 3;
    pub const CONNECTED: u32 = 1 << 4;
    /// It was waited for in this direction.
    pub const SELECTED: u32 = 1 << 5;
    pub const CLOSING: u32 = 1 << 6;
    pub const CLOSED: u32 = 1 << 7;

    pub const NAMES: [(&str, u32); 8] = [
        ("bound", BOUND),
        ("listening", LISTENING),
        ("accepting", ACCEPTING),
        ("connecting", CONNECTING),
        ("connected", CONNECTED),
        ("selected", SELECTED),
        ("closing", CLOSING),
        ("closed", CLOSED),
    ];
}

/// Bytes that a receive without a length takes at once, at first.
pub const RECEIVE_BYTES: usize = 8 << 10;
/// Room for control messages, in bytes, at first.
pub const CONTROL_BYTES: usize = 1 << 10;

pub struct ReadSide {
    pub state: u32,
    pub readers: Requestors,
    pub acceptors: Requestors,
    /// Bytes that came before the receive was complete.
    pub partial: Option<Block>,
    /// Bytes that a receive without a length takes at once.
    pub buffer_bytes: usize,
    /// How many full buffers in a row a receive without a length takes; 0: one.
    pub buffers: u32,
    pub buffers_taken: u32,
    pub control_bytes: usize,
    pub traffic: Traffic,
    pub accepts: Accepts,
    /// The process that closes the socket, or 0.
    pub closer: u64,
    /// Processes that the socket watches.
    pub(super) watched: Vec<u64>,
}

pub struct WriteSide {
    pub state: u32,
    pub writers: Requestors,
    pub connector: Option<Requestor>,
    pub control_bytes: usize,
    pub traffic: Traffic,
    /// The file that is being sent.
    pub file: Option<OwnedFd>,
    pub sendfile: Option<SendfileFigures>,
    /// What the owner attached; None: `undefined`.
    pub meta: Option<Package>,
}

pub type Read<'a> = Ordered<MutexGuard<'a, ReadSide>>;
pub type Write<'a> = Ordered<MutexGuard<'a, WriteSide>>;

impl ReadSide {
    pub fn is_open(&self) -> bool {
        self.state & (state::CLOSING | state::CLOSED) == 0
    }
}

impl WriteSide {
    pub fn is_open(&self) -> bool {
        self.state & (state::CLOSING | state::CLOSED) == 0
    }
}

pub struct Socket {
    id: RefId,
    pub sort: Sort,
    /// -1 when it is closed. Relaxed, all uses: it changes only while both locks are held.
    pub(super) fd: AtomicI32,
    /// The descriptor that the program gave, or -1.
    pub given_fd: RawFd,
    /// True: the descriptor is closed with the socket.
    pub owns_fd: bool,
    /// The owner's pid, or 0. Relaxed, as `fd`.
    pub(super) owner: AtomicU64,
    /// Prints nothing here; programs can ask for it. Relaxed, all uses of these flags: they order nothing.
    pub is_debugged: AtomicBool,
    /// True: the owner is told when a counter begins again.
    pub tells_wraps: AtomicBool,
    /// True: the registry knows the socket.
    pub is_registered: AtomicBool,
    pub(super) read: Mutex<ReadSide>,
    write: Mutex<WriteSide>,
}

impl Resource for Socket {
    fn type_name(&self) -> &'static str {
        "socket"
    }
}

/// How a socket begins.
pub struct Start {
    pub sort: Sort,
    pub owner: u64,
    pub given_fd: RawFd,
    pub owns_fd: bool,
    pub is_debugged: bool,
    pub is_registered: bool,
    pub is_connected: bool,
}

impl Socket {
    /// A new socket of the descriptor, which it closes when it is dropped.
    pub fn new(fd: OwnedFd, start: &Start) -> Arc<Socket> {
        use std::os::fd::IntoRawFd;
        let read = ReadSide {
            state: 0,
            readers: Requestors::default(),
            acceptors: Requestors::default(),
            partial: None,
            buffer_bytes: RECEIVE_BYTES,
            buffers: 0,
            buffers_taken: 0,
            control_bytes: CONTROL_BYTES,
            traffic: Traffic::default(),
            accepts: Accepts::default(),
            closer: 0,
            watched: Vec::new(),
        };
        let write = WriteSide {
            state: if start.is_connected { state::CONNECTED } else { 0 },
            writers: Requestors::default(),
            connector: None,
            control_bytes: CONTROL_BYTES,
            traffic: Traffic::default(),
            file: None,
            sendfile: None,
            meta: None,
        };
        let socket = Arc::new(Socket {
            id: refs::fresh(),
            sort: start.sort,
            fd: AtomicI32::new(fd.into_raw_fd()),
            given_fd: start.given_fd,
            owns_fd: start.owns_fd,
            owner: AtomicU64::new(start.owner),
            is_debugged: AtomicBool::new(start.is_debugged),
            tells_wraps: AtomicBool::new(false),
            is_registered: AtomicBool::new(start.is_registered),
            read: Mutex::new(read),
            write: Mutex::new(write),
        });
        counters::count(start.sort, 1);
        if start.is_registered {
            messages::registry_add(&socket);
        }
        // The owner calls this itself, so it is there. A plain lock: the caller may have one of the same class, of another socket.
        socket.watch(&mut socket.read.lock().unwrap(), start.owner);
        socket
    }

    /// Takes over what the owner set for the socket that listens. No other thread knows this socket yet.
    pub fn inherit(&self, from: &ReadSide, control_bytes: usize) {
        // A plain lock: the caller has one of the same class, of another socket.
        let mut read = self.read.lock().unwrap();
        (read.buffer_bytes, read.buffers, read.control_bytes) = (from.buffer_bytes, from.buffers, from.control_bytes);
        self.write.lock().unwrap().control_bytes = control_bytes;
    }

    /// The socket that an argument is; anything else raises `badarg`.
    pub fn of(p: &mut Process, term: Term) -> Result<Arc<Socket>, Thrown> {
        args::resource::<Socket>(term).ok_or_else(|| p.badarg())
    }

    pub fn term(self: &Arc<Socket>, heap: &mut Heap) -> Term {
        heap.magic_reference(self.id.words(), self.clone())
    }

    pub fn read(&self) -> Read<'_> {
        LockClass::SocketRead.lock(&self.read)
    }

    pub fn write(&self) -> Write<'_> {
        LockClass::SocketWrite.lock(&self.write)
    }

    /// Both directions, in the order in which all take them.
    pub fn both(&self) -> (Read<'_>, Write<'_>) {
        let read = self.read();
        (read, self.write())
    }

    /// The descriptor. The caller has a lock of a direction that is open.
    pub fn fd(&self) -> RawFd {
        self.fd.load(Ordering::Relaxed)
    }

    pub fn owner(&self) -> u64 {
        self.owner.load(Ordering::Relaxed)
    }

    pub fn is_stream(&self) -> bool {
        self.sort.kind == libc::SOCK_STREAM
    }

    /// Adds to a counter, and tells the owner if it begins again and that is wanted.
    pub fn count(self: &Arc<Socket>, counter: &mut Counter, n: usize, name: &str) {
        if counter.add(n as u64) && self.tells_wraps.load(Ordering::Relaxed) {
            messages::counter_wrap(self, self.owner(), name);
        }
    }

    /// Has the end of the process noted. The caller has the lock for reading. Returns false if the process has ended.
    pub fn watch(self: &Arc<Socket>, read: &mut ReadSide, pid: u64) -> bool {
        if read.watched.contains(&pid) {
            return true;
        }
        read.watched.push(pid);
        watch::watch(self, pid)
    }

    /// Tells the process once when the descriptor is ready.
    pub fn select(self: &Arc<Socket>, interest: Interest, to: Requestor) -> std::io::Result<()> {
        let socket = self.clone();
        poll::once(self.fd(), interest, Arc::new(move || messages::select(&socket, to)))
    }

    /// True if no process will be told; false if one was told, or none waited.
    pub fn cancel_select(&self, interest: Interest) -> bool {
        poll::cancel(self.fd(), interest)
    }

    /// The next process that waits becomes the current one.
    pub fn next_reader(self: &Arc<Socket>, read: &mut ReadSide) {
        self.activate(&mut read.readers, Interest::Read);
    }

    pub fn next_acceptor(self: &Arc<Socket>, read: &mut ReadSide) {
        self.activate(&mut read.acceptors, Interest::Read);
        if read.acceptors.current.is_none() {
            read.state &= !state::ACCEPTING;
        }
    }

    pub fn next_writer(self: &Arc<Socket>, write: &mut WriteSide) {
        self.activate(&mut write.writers, Interest::Write);
    }

    fn activate(self: &Arc<Socket>, all: &mut Requestors, interest: Interest) {
        all.current = None;
        while let Some(next) = all.pop() {
            match self.select(interest, next) {
                Ok(()) => {
                    all.current = Some(next);
                    return;
                }
                Err(error) => messages::abort(self, next, crate::errno::name(error.raw_os_error().unwrap_or(libc::EIO))),
            }
        }
    }

    /// Makes the process the owner. The caller has both locks. False if it has ended: then the socket is as good as left
    /// (the caller calls `process_ended` when it has let the locks go).
    pub fn give_to(self: &Arc<Socket>, read: &mut ReadSide, pid: u64) -> bool {
        self.owner.store(pid, Ordering::Relaxed);
        self.watch(read, pid)
    }
}
