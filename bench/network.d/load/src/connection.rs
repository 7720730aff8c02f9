//! One client: the requests that are due on it, and how far the one under way has come.

use crate::protocol::Protocol;
use crate::tls::Tls;
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Result, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

enum Socket {
    Tcp(TcpStream),
    Udp(UdpSocket),
    Tls(Box<Tls>),
}

impl Socket {
    fn open(to: SocketAddr, protocol: Protocol) -> Result<Socket> {
        if protocol == Protocol::Udp {
            let socket = UdpSocket::bind(if to.is_ipv4() { "127.0.0.1:0" } else { "[::1]:0" })?;
            socket.connect(to)?;
            socket.set_nonblocking(true)?;
            return Ok(Socket::Udp(socket));
        }
        let socket = TcpStream::connect(to)?;
        socket.set_nodelay(true)?;
        socket.set_nonblocking(true)?;
        match protocol {
            Protocol::Tls | Protocol::TlsNew => Ok(Socket::Tls(Box::new(Tls::new(socket)?))),
            _ => Ok(Socket::Tcp(socket)),
        }
    }
}

pub struct Connection {
    socket: Socket,
    protocol: Protocol,
    /// When the requests that are not answered yet were due. The first is under way if `is_asking`.
    due: VecDeque<Instant>,
    is_asking: bool,
    /// When the request under way was sent.
    asked: Instant,
    /// Bytes of the request that the system took.
    written: usize,
    got: Vec<u8>,
}

/// What came of a step.
pub enum Step {
    /// The answer to the request that was due then is there, and is right.
    Answered(Instant),
    Waits,
    Failed(String),
}

impl Connection {
    pub fn open(to: SocketAddr, protocol: Protocol) -> Result<Connection> {
        let socket = Socket::open(to, protocol)?;
        Ok(Connection { socket, protocol, due: VecDeque::new(), is_asking: false, asked: Instant::now(), written: 0, got: Vec::new() })
    }

    /// Ends the connection and opens a new one to the same server. The requests that are due stay.
    pub fn open_again(&mut self, to: SocketAddr) -> Result<()> {
        if let Socket::Tls(socket) = &mut self.socket {
            socket.say_end();
        }
        self.socket = Socket::open(to, self.protocol)?;
        Ok(())
    }

    pub fn fd(&self) -> RawFd {
        match &self.socket {
            Socket::Tcp(socket) => socket.as_raw_fd(),
            Socket::Udp(socket) => socket.as_raw_fd(),
            Socket::Tls(socket) => socket.fd(),
        }
    }

    pub fn add(&mut self, due: Instant) {
        self.due.push_back(due);
    }

    pub fn outstanding(&self) -> usize {
        self.due.len()
    }

    /// Sends what is due and reads what has come, as far as the system lets it.
    pub fn step(&mut self, request: &[u8]) -> Step {
        if !self.is_asking {
            if self.due.is_empty() {
                return Step::Waits;
            }
            (self.is_asking, self.written, self.asked) = (true, 0, Instant::now());
            self.got.clear();
        }
        match self.move_bytes(request) {
            Ok(true) => {
                self.is_asking = false;
                match self.due.pop_front() {
                    Some(due) if self.protocol.is_right(request, &self.got) => Step::Answered(due),
                    _ => Step::Failed(format!("a wrong answer: {}", String::from_utf8_lossy(&self.got[..self.got.len().min(200)]))),
                }
            }
            Ok(false) => Step::Waits,
            Err(problem) => Step::Failed(problem),
        }
    }

    /// A datagram that is not answered in this time counts as lost.
    pub fn drop_lost(&mut self, now: Instant, limit: Duration) -> bool {
        let is_lost = self.is_asking && now.duration_since(self.asked) > limit;
        if is_lost {
            self.is_asking = false;
            self.due.pop_front();
        }
        is_lost
    }

    /// True: the whole answer is there.
    fn move_bytes(&mut self, request: &[u8]) -> std::result::Result<bool, String> {
        while self.written < request.len() {
            match self.send(&request[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(format!("send: {error}")),
            }
        }
        loop {
            let length = self.protocol.answer_length(request, &self.got)?;
            if length.is_some_and(|length| self.got.len() >= length) {
                return Ok(true);
            }
            let before = self.got.len();
            self.got.resize(before + length.map_or(4096, |length| length - before), 0);
            let read = self.receive(before);
            self.got.truncate(before + *read.as_ref().unwrap_or(&0));
            match read {
                Ok(0) => return Err("the server closed the connection".into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(format!("receive: {error}")),
            }
        }
    }

    fn send(&mut self, bytes: &[u8]) -> Result<usize> {
        match &mut self.socket {
            Socket::Tcp(socket) => socket.write(bytes),
            Socket::Udp(socket) => socket.send(bytes),
            Socket::Tls(socket) => socket.send(bytes),
        }
    }

    /// Reads to `got` from that place on.
    fn receive(&mut self, from: usize) -> Result<usize> {
        match &mut self.socket {
            Socket::Tcp(socket) => socket.read(&mut self.got[from..]),
            Socket::Udp(socket) => socket.recv(&mut self.got[from..]),
            Socket::Tls(socket) => socket.receive(&mut self.got[from..]),
        }
    }
}
