//! One port: its state, its input, its output, its end.

use super::frame::{self, Piece};
use super::options::Packet;
use super::poll::{self, Interest};
use super::ram_file::RamFile;
use super::trace_file::TraceFile;
use crate::inet::{self, Tcp};
use crate::trace::ports;
use heddle_runtime::locks::Class;
use heddle_runtime::send::{message_to_pid, send_exit};
use heddle_runtime::signal::{Body, Signal};
use heddle_runtime::{Package, RefId, msacc, names, proctab};
use heddle_term::{Atom, Heap, Term, am};
use std::collections::{HashMap, HashSet, VecDeque};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

pub struct Port {
    pub id: u64,
    /// What `port_info(P, name)` says: driver, command, or In/Out.
    pub label: String,
    pub packet: Packet,
    pub binary: bool,
    pub eof: bool,
    pub exit_status: bool,
    pub os_pid: Option<u32>,
    /// The driver, where the port is neither a program nor descriptors.
    pub driver: Option<Mutex<Driver>>,
    pub state: Mutex<State>,
}

pub enum Driver {
    /// A file in memory.
    Ram(RamFile),
    /// Takes trace messages.
    TraceFile(TraceFile),
    /// A stream socket.
    Tcp(Box<Tcp>),
}

pub struct State {
    pub owner: u64,
    pub name: Option<Atom>,
    pub links: HashSet<Term>,
    /// Monitors on this port: who, by reference.
    pub watchers: HashMap<RefId, Term>,
    pub data: Package,
    pub input: Option<OwnedFd>,
    pub output: Option<OwnedFd>,
    buffer: Vec<u8>,
    queue: VecDeque<Vec<u8>>,
    written: usize,
    write_armed: bool,
    closed: bool,
    /// The program ended with this status, not reported yet because input is left.
    status: Option<i32>,
    input_ended: bool,
    /// `eof` was sent, or there never was any input.
    end_told: bool,
    pub bytes_in: u64,
    pub bytes_out: u64,
}

impl State {
    pub fn new(owner: u64, input: Option<OwnedFd>, output: Option<OwnedFd>) -> State {
        let mut links = HashSet::new();
        links.insert(Term::local_pid(owner));
        State {
            owner,
            name: None,
            links,
            watchers: HashMap::new(),
            data: Package::immediate(am::UNDEFINED.into()),
            input_ended: input.is_none(),
            end_told: input.is_none(),
            input,
            output,
            buffer: Vec::new(),
            queue: VecDeque::new(),
            written: 0,
            write_armed: false,
            closed: false,
            status: None,
            bytes_in: 0,
            bytes_out: 0,
        }
    }
    /// `n` further bytes of the front message, which has `len`, are out.
    fn wrote(&mut self, n: usize, len: usize) {
        self.written += n;
        if self.written == len {
            self.queue.pop_front();
            self.written = 0;
        }
    }
    pub fn queued_bytes(&self) -> usize {
        self.queue.iter().map(Vec::len).sum::<usize>() - self.written
    }
}

pub fn set_nonblocking(fd: RawFd) {
    // SAFETY: fcntl on an open descriptor.
    unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK);
    }
}

impl Port {
    pub fn term(&self) -> Term {
        Term::local_port(self.id)
    }

    /// Starts to listen for input.
    pub fn start(self: &Arc<Port>) {
        self.arm_read();
    }

    /// Under the lock: once the port is closed its descriptor number may belong to another port.
    fn arm_read(self: &Arc<Port>) {
        let s = Class::Port.lock(&self.state);
        let Some(fd) = s.input.as_ref().map(|f| f.as_raw_fd()) else { return };
        let port = self.clone();
        poll::once(fd, Interest::Read, Arc::new(move || port.readable()));
    }

    /// Poller thread: there is input, or its end.
    fn readable(self: &Arc<Port>) {
        let mut chunk = [0u8; 65536];
        let (fd, owner, pieces, ended) = {
            let mut s = Class::Port.lock(&self.state);
            let Some(fd) = s.input.as_ref().map(|f| f.as_raw_fd()) else { return };
            // SAFETY: reads into a buffer of that size.
            let n = unsafe { libc::read(fd, chunk.as_mut_ptr().cast(), chunk.len()) };
            let mut ended = n == 0;
            if n < 0 {
                let error = std::io::Error::last_os_error();
                match error.kind() {
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::Interrupted => {}
                    // A terminal whose other side went says EIO.
                    _ => ended = true,
                }
            } else {
                s.buffer.extend_from_slice(&chunk[..n as usize]);
                super::BYTES_IN.fetch_add(n as u64, Ordering::Relaxed);
            }
            let mut buffer = std::mem::take(&mut s.buffer);
            let mut pieces = frame::cut(self.packet, &mut buffer);
            if ended && !self.exit_status {
                pieces.extend(frame::rest(self.packet, &mut buffer));
            }
            s.buffer = buffer;
            s.bytes_in += pieces.iter().map(|p| p.len() as u64).sum::<u64>();
            (fd, s.owner, pieces, ended)
        };
        for piece in pieces {
            self.deliver(owner, piece);
        }
        if ended {
            self.input_end(fd);
        } else {
            self.arm_read();
        }
    }

    fn deliver(&self, owner: u64, piece: Piece) {
        let port = self.term();
        let bytes = |heap: &mut Heap, b: &[u8]| if self.binary { heap.binary(b) } else { heap.byte_list(b) };
        let message = Package::build(|heap| {
            let data = match piece {
                Piece::Data(b) => bytes(heap, &b),
                Piece::Line(whole, b) => {
                    let data = bytes(heap, &b);
                    heap.tuple(&[Atom::new(if whole { "eol" } else { "noeol" }).into(), data])
                }
            };
            let inner = heap.tuple(&[Atom::new("data").into(), data]);
            heap.tuple(&[port, inner])
        });
        ports::sent(port, owner, message.term());
        message_to_pid(owner, message);
    }

    pub fn tell(&self, owner: u64, what: impl FnOnce(&mut Heap) -> Term) {
        let port = self.term();
        let message = Package::build(|heap| {
            let what = what(heap);
            heap.tuple(&[port, what])
        });
        ports::sent(port, owner, message.term());
        message_to_pid(owner, message);
    }

    fn input_end(self: &Arc<Port>, fd: RawFd) {
        let (owner, status) = {
            let mut s = Class::Port.lock(&self.state);
            if s.input.is_some() {
                poll::forget(fd);
            }
            s.input = None;
            s.input_ended = true;
            (s.owner, s.status.take())
        };
        // The status goes before the end of input: programs close the port at `eof` and then look for the status.
        if status.is_some() || !self.exit_status {
            self.report_end(owner, status);
        }
    }

    /// The program ended.
    pub fn exited(self: &Arc<Port>, status: i32) {
        let owner = {
            let mut s = Class::Port.lock(&self.state);
            if s.closed {
                return;
            }
            if !s.input_ended {
                // Its last output comes first.
                s.status = Some(status);
                return;
            }
            s.owner
        };
        self.report_end(owner, Some(status));
    }

    fn report_end(self: &Arc<Port>, owner: u64, status: Option<i32>) {
        if let Some(status) = status
            && self.exit_status
        {
            // As in stock an unfinished line comes behind the status: whoever reads lines looks for one there.
            let rest = {
                let mut s = Class::Port.lock(&self.state);
                let rest = frame::rest(self.packet, &mut s.buffer);
                s.bytes_in += rest.as_ref().map_or(0, |r| r.len() as u64);
                rest
            };
            self.tell(owner, |heap| heap.tuple(&[Atom::new("exit_status").into(), Term::small(status as i64)]));
            if let Some(rest) = rest {
                self.deliver(owner, rest);
            }
        }
        if !self.eof {
            return self.close(am::NORMAL.into(), false);
        }
        let had_input = !std::mem::replace(&mut Class::Port.lock(&self.state).end_told, true);
        if had_input {
            self.tell(owner, |_| Atom::new("eof").into());
        }
    }

    /// A process commands.
    pub fn command_from(self: &Arc<Port>, from: Term, data: Vec<u8>) -> bool {
        ports::scheduled(self.term(), "command", || {
            ports::received(self.term(), from, |heap| {
                let data = heap.binary(&data);
                heap.tuple(&[Atom::new("command").into(), data])
            });
            if inet::with(self, |tcp| tcp.send(self, from.payload(), &data)).is_some() {
                return true;
            }
            self.command(data)
        })
    }

    /// Writes or queues; false when the port takes no output.
    pub fn command(self: &Arc<Port>, data: Vec<u8>) -> bool {
        let state = msacc::enter(msacc::State::Port);
        let taken = self.take_command(data);
        msacc::enter(state);
        taken
    }

    fn take_command(self: &Arc<Port>, data: Vec<u8>) -> bool {
        if let Some(driver) = &self.driver {
            let done = match &mut *Class::Port.lock(driver) {
                Driver::Ram(ram) => Ok(Some(ram.command(&data))),
                Driver::TraceFile(file) => file.write(&data).map(|()| None),
                // Only processes send, see `command_from`.
                Driver::Tcp(_) => return false,
            };
            let reply = match done {
                Ok(Some(reply)) => reply,
                Ok(None) => return true,
                Err(error) => {
                    self.fail(&error);
                    return true;
                }
            };
            let owner = Class::Port.lock(&self.state).owner;
            self.tell(owner, |heap| {
                let reply = reply.build(heap, self.binary);
                heap.tuple(&[Atom::new("data").into(), reply])
            });
            return true;
        }
        let mut s = Class::Port.lock(&self.state);
        if s.output.is_none() {
            return false;
        }
        let Some(mut message) = frame::header(self.packet, data.len()) else {
            drop(s);
            // As in stock the port ends, and the caller learns nothing else.
            self.fail(&std::io::Error::from_raw_os_error(libc::EINVAL));
            return true;
        };
        s.bytes_out += data.len() as u64;
        message.extend(data);
        super::BYTES_OUT.fetch_add(message.len() as u64, Ordering::Relaxed);
        if !message.is_empty() {
            s.queue.push_back(message);
        }
        let broken = self.pump(&mut s);
        drop(s);
        if let Some(reason) = broken {
            self.close(reason, false);
        }
        true
    }

    /// The driver could not go on.
    fn fail(self: &Arc<Port>, error: &std::io::Error) {
        let name = crate::errno::name(error.raw_os_error().unwrap_or(libc::EIO));
        self.close(Atom::new(name).into(), false);
    }

    /// `port_control`; None: the driver knows no such operation.
    pub fn control(self: &Arc<Port>, caller: u64, operation: u32, data: &[u8]) -> Option<Vec<u8>> {
        if let Some(reply) = inet::with(self, |tcp| tcp.control(self, caller, operation, data)) {
            return Some(reply);
        }
        let flushed = match &mut *Class::Port.lock(self.driver.as_ref()?) {
            Driver::TraceFile(file) if operation == 'f' as u32 => file.flush(),
            _ => return None,
        };
        if let Err(error) = flushed {
            self.fail(&error);
        }
        Some(vec![0])
    }

    /// A set of trace files that changes by the clock.
    pub fn change_files_by_time(self: &Arc<Port>) {
        let Some(driver) = &self.driver else { return };
        let period = match &*Class::Port.lock(driver) {
            Driver::TraceFile(file) => file.period_ms(),
            Driver::Ram(_) | Driver::Tcp(_) => None,
        };
        let Some(ms) = period else { return };
        let port = Arc::downgrade(self);
        heddle_runtime::sched::after(ms, move || {
            let Some(port) = port.upgrade().filter(|p| !Class::Port.lock(&p.state).closed) else { return };
            let changed = match port.driver.as_ref().map(|d| Class::Port.lock(d)).as_deref_mut() {
                Some(Driver::TraceFile(file)) => file.next_file(),
                _ => Ok(()),
            };
            match changed {
                Ok(()) => port.change_files_by_time(),
                Err(error) => port.fail(&error),
            }
        });
    }

    /// Writes what the descriptor takes; an exit reason when the other side is gone.
    fn pump(self: &Arc<Port>, s: &mut State) -> Option<Term> {
        let fd = s.output.as_ref()?.as_raw_fd();
        while let Some(front) = s.queue.front() {
            let rest = &front[s.written..];
            // SAFETY: writes from a live slice.
            let n = unsafe { libc::write(fd, rest.as_ptr().cast(), rest.len()) };
            if n < 0 {
                let error = std::io::Error::last_os_error();
                match error.kind() {
                    std::io::ErrorKind::Interrupted => continue,
                    std::io::ErrorKind::WouldBlock => {
                        if !s.write_armed {
                            s.write_armed = true;
                            let port = self.clone();
                            poll::once(fd, Interest::Write, Arc::new(move || port.writable()));
                        }
                        return None;
                    }
                    _ => {
                        s.queue.clear();
                        s.written = 0;
                        let name = crate::errno::name(error.raw_os_error().unwrap_or(libc::EIO));
                        return Some(Atom::new(name).into());
                    }
                }
            }
            let len = front.len();
            s.wrote(n as usize, len);
        }
        None
    }

    fn writable(self: &Arc<Port>) {
        let broken = {
            let mut s = Class::Port.lock(&self.state);
            s.write_armed = false;
            self.pump(&mut s)
        };
        if let Some(reason) = broken {
            self.close(reason, false);
        }
    }

    /// Writes everything, waiting for the descriptor where needed.
    pub fn flush(self: &Arc<Port>) {
        let mut s = Class::Port.lock(&self.state);
        let Some(fd) = s.output.as_ref().map(|f| f.as_raw_fd()) else { return };
        while let Some(front) = s.queue.front() {
            let rest = front[s.written..].to_vec();
            // SAFETY: as in `pump`.
            let n = unsafe { libc::write(fd, rest.as_ptr().cast(), rest.len()) };
            if n < 0 {
                if std::io::Error::last_os_error().kind() != std::io::ErrorKind::WouldBlock {
                    return;
                }
                let mut wait = libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
                // SAFETY: one pollfd.
                unsafe { libc::poll(&mut wait, 1, -1) };
                continue;
            }
            let len = front.len();
            s.wrote(n as usize, len);
        }
    }

    /// Ends the port. `tell_owner`: {Port, closed}.
    pub fn close(self: &Arc<Port>, reason: Term, tell_owner: bool) {
        let (owner, links, watchers, name, fds) = {
            let mut s = Class::Port.lock(&self.state);
            if std::mem::replace(&mut s.closed, true) {
                return;
            }
            let fds = (s.input.take(), s.output.take());
            (s.owner, std::mem::take(&mut s.links), std::mem::take(&mut s.watchers), s.name.take(), fds)
        };
        for fd in [&fds.0, &fds.1].into_iter().flatten() {
            poll::forget(fd.as_raw_fd());
        }
        drop(fds);
        match self.driver.as_ref().map(|d| Class::Port.lock(d)).as_deref_mut() {
            Some(Driver::TraceFile(file)) => {
                let _ = file.flush();
            }
            Some(Driver::Tcp(tcp)) => tcp.close(self),
            _ => {}
        }
        super::remove(self.term(), reason);
        if let Some(name) = name {
            names::unregister(name, Some(self.term()));
        }
        let closed = Atom::new("closed").into();
        if tell_owner {
            // While it is known to be traced. Tracers see the bare atom, as in stock.
            ports::sent(self.term(), owner, closed);
        }
        ports::forget(self.term());
        let _guard = heddle_runtime::qsbr::guard();
        for link in links {
            send_exit(self.term(), link, reason, true);
        }
        for (reference, watcher) in watchers {
            if let Some(to) = proctab::lookup(watcher.payload()) {
                let _ = heddle_runtime::send::deliver(to, Signal::new(Body::Down { reference, reason: Package::new(reason) }));
            }
        }
        // Behind the exit signals, as in stock.
        if tell_owner {
            message_to_pid(owner, Package::build(|heap| heap.tuple(&[self.term(), closed])));
        }
    }
}
