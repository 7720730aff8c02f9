//! A connection to another node, from the time at which it is wanted until it has ended. What carries it is a port, or a process (a controller).

use crate::figures::Figures;
use crate::incoming::Incoming;
use crate::large_senders::busy_bytes;
use crate::monitors::{self, Change};
use crate::out_queue::OutQueue;
use crate::outgoing::Outgoing;
use crate::wire::{Framing, HeldBytes, Packet, Piece};
use crate::{flags, table};
use heddle_abi::settings::SETTINGS;
use heddle_io::ports::channel::{self, Channel};
use heddle_io::ports::gate::{Gate, Limits, wake};
use heddle_io::ports::port::Port;
use heddle_runtime::nodes::ConnectionId;
use heddle_runtime::signal::remote::{Inbound, RemoteSignal};
use heddle_runtime::signal::{Signal, SignalBody};
use heddle_runtime::{Package, proctab, sched, send, time};
use heddle_term::ident::RefView;
use heddle_term::{Atom, Heap, Term, am};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Parts of binaries from this size on are written where they are; smaller ones are copied beside what is around them (guessed).
const SHARED_BYTES: usize = 8 << 10;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// It is being made. What is sent waits.
    Pending,
    Up,
    Ended,
}

/// What carries the packets.
pub enum Carrier {
    Port(Arc<Port>),
    /// A process, by its number.
    Process(u64),
}

pub struct Connection {
    pub id: ConnectionId,
    /// A `Stage`. Changes under the lock of `related`. Release there, Acquire in readers: a thread that sees `Up` sees `flags` and `carrier`.
    stage: AtomicU8,
    /// What both nodes can do. Relaxed: set before `stage`.
    flags: AtomicU64,
    carrier: OnceLock<Carrier>,
    /// Tells this life of the peer from its others. Relaxed: set before `stage`.
    creation: AtomicU32,
    queue: Mutex<OutQueue>,
    /// Shut while too much is queued.
    pub gate: Gate,
    /// Bytes of messages that go out in fragments. Relaxed: a copy of a figure of the queue.
    large_bytes: AtomicUsize,
    /// A call of the port, or a message to the controller, is on its way. SeqCst: set after a message was queued, cleared before the queue is
    /// read, so that one of the two threads sees the other.
    is_called: AtomicBool,
    /// The controller wants a message when there is something to send. SeqCst, as `is_called`.
    wants_notice: AtomicBool,
    /// A controller gets each message with its size.
    pub gives_size: AtomicBool,
    /// The number of the process that may put data in (`dist_ctrl_input_handler`).
    pub input_handler: AtomicU64,
    incoming: Mutex<Option<Incoming>>,
    /// Numbers of the processes that have relations over the connection.
    related: Mutex<HashSet<u64>>,
    /// Monitors of the peer on names: the process that had the name.
    named: Mutex<HashMap<RefView, u64>>,
    pub figures: Arc<Figures>,
    /// What is wrong with the peer was logged. Relaxed: it is logged once.
    is_blamed: AtomicBool,
    /// Packets.
    pub received: AtomicU64,
    pub sent: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection {
    pub fn new(id: ConnectionId) -> Connection {
        Connection {
            id,
            stage: AtomicU8::new(Stage::Pending as u8),
            flags: AtomicU64::new(0),
            carrier: OnceLock::new(),
            creation: AtomicU32::new(0),
            queue: Mutex::new(OutQueue::new()),
            gate: Gate::new(Limits::new(busy_bytes() / 2, busy_bytes()), Limits::NEVER),
            large_bytes: AtomicUsize::new(0),
            is_called: AtomicBool::new(false),
            wants_notice: AtomicBool::new(false),
            gives_size: AtomicBool::new(false),
            input_handler: AtomicU64::new(u64::MAX),
            incoming: Mutex::default(),
            related: Mutex::default(),
            named: Mutex::default(),
            figures: Arc::default(),
            is_blamed: AtomicBool::new(false),
            received: AtomicU64::new(0),
            sent: AtomicU64::new(0),
        }
    }

    pub fn stage(&self) -> Stage {
        match self.stage.load(Ordering::Acquire) {
            0 => Stage::Pending,
            1 => Stage::Up,
            _ => Stage::Ended,
        }
    }

    /// What both nodes can do, if it is up or was.
    fn flags(&self) -> u64 {
        self.flags.load(Ordering::Relaxed)
    }

    /// True if it is up and both nodes can do this.
    pub fn can(&self, flag: u64) -> bool {
        self.stage() == Stage::Up && self.flags() & flag != 0
    }

    /// How to encode what is sent now.
    pub fn framing(&self) -> Framing {
        if self.stage() == Stage::Up { Framing::of_flags(self.flags()) } else { Framing::UNKNOWN }
    }

    pub fn is_visible(&self) -> bool {
        self.flags() & flags::PUBLISHED != 0
    }

    pub fn carrier(&self) -> Option<&Carrier> {
        self.carrier.get()
    }

    /// The port or process that carries it.
    pub fn carrier_term(&self) -> Option<Term> {
        Some(match self.carrier()? {
            Carrier::Port(port) => port.term(),
            Carrier::Process(pid) => Term::local_pid(*pid),
        })
    }

    /// True if the process carries it.
    pub fn is_controller(&self, pid: u64) -> bool {
        matches!(self.carrier(), Some(Carrier::Process(controller)) if *controller == pid)
    }

    /// How `erlang:dist_ctrl_get_data` and others name it: `[Number | Node]`.
    pub fn handle(&self, heap: &mut Heap) -> Term {
        heap.list_with_tail(&[Term::small(self.id.number as i64)], self.id.node.into())
    }

    /// What tells this life of the peer from its others. 0 before the connection is up.
    pub fn creation(&self) -> u32 {
        self.creation.load(Ordering::Relaxed)
    }

    // ---- from pending to up ----

    /// The handshake has told the peer's creation.
    pub fn set_creation(&self, creation: u32) {
        self.creation.store(creation, Ordering::Relaxed);
    }

    /// It is up: it has this carrier, and both nodes can do this. False if it was not pending.
    pub fn up(self: &Arc<Connection>, carrier: Carrier, flags: u64) -> bool {
        let related = lock(&self.related);
        if self.stage() != Stage::Pending || self.carrier.set(carrier).is_err() {
            return false;
        }
        self.flags.store(flags, Ordering::Relaxed);
        *lock(&self.incoming) = Some(Incoming::new(Framing::of_flags(flags), self.figures.clone()));
        self.stage.store(Stage::Up as u8, Ordering::Release);
        drop(related);
        self.call();
        monitors::tell(&Change { node: self.id.node, connection: Some(self.id.number), is_visible: self.is_visible(), down: None });
        true
    }

    // ---- processes with relations over it ----

    /// The process hears of the end of the connection. False if it has ended.
    pub fn relate(&self, pid: u64) -> bool {
        let mut related = lock(&self.related);
        let is_there = self.stage() != Stage::Ended;
        if is_there {
            related.insert(pid);
        }
        is_there
    }

    /// The numbers of the processes that have relations over it.
    pub fn related(&self) -> Vec<u64> {
        lock(&self.related).iter().copied().collect()
    }

    pub fn unrelate(&self, pid: u64) {
        lock(&self.related).remove(&pid);
    }

    /// Sends a process what the peer sent it. Returns the signal if the process has ended.
    pub fn deliver(&self, pid: u64, what: Inbound) -> Result<(), Inbound> {
        let Some(to) = proctab::lookup(pid) else { return Err(what) };
        let signal = Signal::remote(RemoteSignal { connection: self.id, what });
        send::deliver(to, signal).map_err(|signal| match signal.body {
            SignalBody::Remote(signal) => signal.what,
            _ => Inbound::Disconnected,
        })
    }

    /// The peer monitors a process by a name that the process has now.
    pub fn remember_named(&self, reference: RefView, pid: u64) {
        lock(&self.named).insert(reference, pid);
    }

    pub fn forget_named(&self, reference: RefView) -> Option<u64> {
        lock(&self.named).remove(&reference)
    }

    // ---- output ----

    /// Queues a message. False if the connection has ended.
    pub fn push(&self, message: Outgoing) -> bool {
        if self.stage() == Stage::Ended {
            return false;
        }
        let mut queue = lock(&self.queue);
        queue.push(message);
        self.gate.queued(queue.ready_bytes());
        self.large_bytes.store(queue.senders.total_bytes(), Ordering::Relaxed);
        let small_bytes = queue.small_bytes();
        drop(queue);
        // Senders wait, but answers to the peer do not: a peer that asks and does not read would have them pile up.
        if small_bytes > SETTINGS.answers_mib.get() << 20 {
            self.blame(&format!("{small_bytes} bytes of small messages wait for it to read (+hdout)"));
        }
        self.call();
        true
    }

    /// True if the process must not send now: much is queued, or much of its own.
    pub fn is_busy_for(&self, pid: u64) -> bool {
        self.gate.is_shut()
            || self.large_bytes.load(Ordering::Relaxed) >= busy_bytes() && lock(&self.queue).senders.must_wait(pid, time::ticks_ms())
    }

    /// The process is woken when it may send: at once if it may.
    pub fn wait(&self, pid: u64) {
        self.figures.stalls.fetch_add(1, Ordering::Relaxed);
        if self.gate.is_shut() || !lock(&self.queue).senders.wait(pid, time::ticks_ms()) {
            self.gate.wait(pid);
        }
    }

    pub fn queued_bytes(&self) -> usize {
        self.queued().0
    }

    /// Bytes of messages that are not out, and of those that go out in fragments.
    pub fn queued(&self) -> (usize, usize) {
        let queue = lock(&self.queue);
        (queue.bytes(), queue.senders.total_bytes())
    }

    /// Has the carrier take what is queued.
    fn call(&self) {
        if self.stage() != Stage::Up {
            return;
        }
        match self.carrier() {
            Some(Carrier::Port(port)) if !self.is_called.swap(true, Ordering::SeqCst) => {
                // What the process sends until then goes with the same system call.
                let port = port.clone();
                sched::after_slice(move || channel::has_output(&port));
            }
            Some(Carrier::Process(_)) => self.notice(),
            _ => {}
        }
    }

    fn notice(&self) {
        if let Some(Carrier::Process(pid)) = self.carrier()
            && self.wants_notice.swap(false, Ordering::SeqCst)
        {
            send::build_message(*pid, |_| Atom::new("dist_data").into());
        }
    }

    /// The controller wants a message when there is something to send.
    pub fn want_notice(&self) {
        self.wants_notice.store(true, Ordering::SeqCst);
        if !lock(&self.queue).is_empty() {
            self.notice();
        }
    }

    /// The next packet, without its length.
    pub fn take_one(&self) -> Option<Vec<u8>> {
        let mut taken = None;
        self.take(1, |packet| {
            let mut bytes = Vec::with_capacity(packet.len_bytes());
            packet.append_to(&mut bytes);
            taken = Some(bytes);
        });
        taken
    }

    /// The next packets, about `room` bytes of them, each with its length in four bytes in front. Large binaries are not copied.
    fn take_packets(&self, room: usize) -> Vec<channel::Piece> {
        let (mut pieces, mut bytes) = (Vec::new(), Vec::new());
        self.take(room, |packet| {
            bytes.extend_from_slice(&(packet.len_bytes() as u32).to_be_bytes());
            bytes.extend_from_slice(&packet.header);
            for piece in packet.pieces.clone() {
                match piece {
                    Piece::Held(held, range) if range.len() >= SHARED_BYTES => {
                        pieces.push(channel::Piece::Own(std::mem::take(&mut bytes)));
                        pieces.push(channel::Piece::Shared(Box::new(HeldPart { held: held.clone(), range })));
                    }
                    piece => bytes.extend_from_slice(piece.as_bytes()),
                }
            }
        });
        pieces.push(channel::Piece::Own(bytes));
        pieces
    }

    fn take(&self, room: usize, mut each: impl FnMut(&Packet<'_>)) {
        let flags = self.flags();
        let mut queue = lock(&self.queue);
        let mut taken = 0;
        queue.take(flags, room, |packet| {
            taken += 1;
            each(packet);
        });
        self.gate.queued(queue.ready_bytes());
        self.large_bytes.store(queue.senders.total_bytes(), Ordering::Relaxed);
        let woken = if taken > 0 { queue.senders.woken(time::ticks_ms()) } else { Vec::new() };
        let refused = queue.refused();
        drop(queue);
        wake(woken);
        self.sent.fetch_add(taken, Ordering::Relaxed);
        for (sender, request) in refused {
            let result = Err(Atom::new("notsup"));
            let _ = self.deliver(sender, Inbound::SpawnReply { reference: request, result, linked: false, monitored: false, token: None });
        }
    }

    // ---- input ----

    /// A packet of the peer. False if it breaks the protocol.
    pub fn receive(self: &Arc<Connection>, packet: &[u8]) -> bool {
        self.received.fetch_add(1, Ordering::Relaxed);
        let mut incoming = lock(&self.incoming);
        let Some(incoming) = &mut *incoming else { return true };
        match incoming.packet(self, packet) {
            Ok(()) => true,
            Err(error) => {
                self.complain(&error.to_string());
                false
            }
        }
    }

    /// Logs what is wrong with what the peer did, once.
    fn complain(&self, what: &str) -> bool {
        let is_first = !self.is_blamed.swap(true, Ordering::Relaxed);
        if is_first {
            heddle_runtime::exit::log_message("error", &format!("Connection to node {} is closed: {what}", self.id.node.name()));
        }
        is_first
    }

    /// Logs what is wrong with what the peer did, and ends the connection.
    pub fn blame(&self, what: &str) {
        if self.complain(what) {
            self.shut("killed");
        }
    }

    // ---- the end ----

    /// The connection has ended, for this reason.
    pub fn ended(&self, reason: Term) {
        let related = {
            let mut related = lock(&self.related);
            if self.stage() == Stage::Ended {
                return;
            }
            let was_up = self.stage.swap(Stage::Ended as u8, Ordering::AcqRel) == Stage::Up as u8;
            (std::mem::take(&mut *related), was_up)
        };
        let (related, was_up) = related;
        if let Some(node) = table::find(self.id.node) {
            node.forget(self);
        }
        *lock(&self.incoming) = None;
        let mut queue = std::mem::replace(&mut *lock(&self.queue), OutQueue::new());
        wake(queue.senders.end());
        drop(queue);
        lock(&self.named).clear();
        self.gate.close();
        for pid in related {
            let _ = self.deliver(pid, Inbound::Disconnected);
        }
        if was_up {
            // What OTP calls the end of a socket that the peer has closed.
            let reason = if reason == am::NORMAL.into() { Atom::new("connection_closed").into() } else { reason };
            let reason = Package::new(reason);
            let down = Some(&reason);
            monitors::tell(&Change { node: self.id.node, connection: Some(self.id.number), is_visible: self.is_visible(), down });
        }
    }

    /// Ends the connection from this side: with what carries it, or at once if nothing does.
    pub fn shut(&self, reason: &'static str) {
        match self.carrier() {
            Some(Carrier::Port(port)) => channel::end(port.id, reason),
            Some(Carrier::Process(pid)) => {
                send::send_exit(Term::local_pid(*pid), Term::local_pid(*pid), Atom::new(reason).into(), false);
            }
            None => self.ended(Atom::new(reason).into()),
        }
    }
}

/// Bytes of a large binary that a message shares.
struct HeldPart {
    held: HeldBytes,
    range: Range<usize>,
}

impl AsRef<[u8]> for HeldPart {
    fn as_ref(&self) -> &[u8] {
        &self.held.as_bytes()[self.range.clone()]
    }
}

/// The port's view.
pub struct PortChannel(pub Arc<Connection>);

impl Channel for PortChannel {
    fn input(&self, packet: &[u8]) -> bool {
        self.0.receive(packet)
    }

    fn output(&self, room: usize) -> Vec<channel::Piece> {
        self.0.is_called.store(false, Ordering::SeqCst);
        self.0.take_packets(room)
    }

    fn discards(&self) -> bool {
        self.0.is_blamed.load(Ordering::Relaxed)
    }

    fn ended(&self, reason: Term) {
        self.0.ended(reason);
    }
}
