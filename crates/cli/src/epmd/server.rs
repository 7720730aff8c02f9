//! The server: one thread that waits for all connections at once.

use super::Options;
use super::names::{Names, Registered};
use super::request::{self, Request};
use crate::erl;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// A connection that has not sent a whole request for so long is closed.
const PATIENCE: Duration = Duration::from_secs(60);
/// Connections that have not registered a node, at most: more are closed at once.
const MAX_ASKING: usize = 1000;

struct Connection {
    id: u64,
    stream: TcpStream,
    is_local: bool,
    read: Vec<u8>,
    begun: Instant,
    /// It keeps a node's name.
    keeps_name: bool,
}

/// What becomes of a connection after a request.
enum Then {
    Keep,
    Close,
    /// The server ends.
    End,
}

struct Server<'a> {
    options: &'a Options,
    listeners: Vec<TcpListener>,
    connections: Vec<Connection>,
    names: Names,
    next: u64,
}

/// Serves until it is told to end. If a server has the port already, this one ends at once.
pub fn run(options: &Options, daemon: bool) -> ! {
    let listeners = match listen(options) {
        Ok(listeners) => listeners,
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            if !daemon {
                erl::fail(&format!("epmd: a server has port {} already (epmd -names asks it)", options.port));
            }
            std::process::exit(0);
        }
        Err(error) => erl::fail(&format!("epmd: cannot listen at port {}: {error}", options.port)),
    };
    if daemon {
        erl::detach();
        let _ = std::env::set_current_dir("/");
    }
    // SAFETY: a plain system call. A client that has gone must not end the server.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    Server { options, listeners, connections: Vec::new(), names: Names::default(), next: 0 }.serve()
}

fn listen(options: &Options) -> std::io::Result<Vec<TcpListener>> {
    let listen = |address: IpAddr| TcpListener::bind(SocketAddr::new(address, options.port));
    let Some(addresses) = &options.addresses else {
        // One that listens at all addresses of IPv6 listens at those of IPv4 as well, where the computer has IPv6.
        return match listen(Ipv6Addr::UNSPECIFIED.into()) {
            Err(error) if error.kind() != ErrorKind::AddrInUse => Ok(vec![listen(Ipv4Addr::UNSPECIFIED.into())?]),
            listener => Ok(vec![listener?]),
        };
    };
    let own: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    let mut all = Vec::new();
    for address in own {
        match listen(address) {
            Ok(listener) => all.push(listener),
            Err(error) if error.kind() == ErrorKind::AddrInUse => return Err(error),
            // The computer may have one of IPv4 and IPv6 only.
            Err(_) => {}
        }
    }
    for &address in addresses.iter().filter(|address| !own.contains(address)) {
        all.push(listen(address)?);
    }
    Ok(all)
}

impl Server<'_> {
    fn serve(mut self) -> ! {
        for listener in &self.listeners {
            let _ = listener.set_nonblocking(true);
        }
        loop {
            let ready = self.wait();
            for (_, listener) in ready.iter().zip(&self.listeners).filter(|(ready, _)| **ready) {
                while let Ok((stream, peer)) = listener.accept() {
                    let asking = self.connections.iter().filter(|connection| !connection.keeps_name).count();
                    if asking < MAX_ASKING && stream.set_nonblocking(true).is_ok() {
                        let is_local = peer.ip().to_canonical().is_loopback() || stream.local_addr().is_ok_and(|own| own.ip() == peer.ip());
                        let (id, begun) = (self.next, Instant::now());
                        self.next += 1;
                        self.connections.push(Connection { id, stream, is_local, read: Vec::new(), begun, keeps_name: false });
                    }
                }
            }
            // Connections that have just come are not among them.
            let is_ready = ready[self.listeners.len()..].iter().copied().chain(std::iter::repeat(false));
            for (mut connection, is_ready) in std::mem::take(&mut self.connections).into_iter().zip(is_ready) {
                let is_over = !connection.keeps_name && connection.begun.elapsed() > PATIENCE;
                if !is_over && (!is_ready || self.read(&mut connection)) {
                    self.connections.push(connection);
                } else {
                    self.names.forget(connection.id);
                }
            }
        }
    }

    /// Waits for something to read. True for each listener and connection, in order, that has something.
    fn wait(&self) -> Vec<bool> {
        let fds =
            self.listeners.iter().map(AsRawFd::as_raw_fd).chain(self.connections.iter().map(|connection| connection.stream.as_raw_fd()));
        let mut polled: Vec<libc::pollfd> = fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect();
        // SAFETY: as many entries as the array has.
        unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, 5000) };
        polled.iter().map(|entry| entry.revents != 0).collect()
    }

    /// Reads what has come. Returns false if the connection must be closed.
    fn read(&mut self, connection: &mut Connection) -> bool {
        let mut bytes = [0; 4096];
        match connection.stream.read(&mut bytes) {
            Ok(0) => return false,
            // Nothing is expected of a node that is registered.
            Ok(_) if connection.keeps_name => return true,
            Ok(count) => connection.read.extend_from_slice(&bytes[..count]),
            Err(error) => return matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        }
        let Some((&[high, low], rest)) = connection.read.split_first_chunk::<2>() else { return true };
        let len = u16::from_be_bytes([high, low]) as usize;
        let Some(request) = rest.get(..len) else { return true };
        let request = request.to_vec();
        match self.answer(connection, &request) {
            Then::Keep => true,
            Then::Close => false,
            Then::End => std::process::exit(0),
        }
    }

    fn answer(&mut self, connection: &mut Connection, bytes: &[u8]) -> Then {
        let Some(request) = request::parse(bytes) else { return Then::Close };
        if self.options.debug {
            eprintln!("epmd: {request:?}");
        }
        let may_change = connection.is_local;
        let port = u32::from(self.options.port).to_be_bytes();
        let reply: Vec<u8> = match request {
            Request::Register { .. } | Request::Kill | Request::Stop(_) if !may_change => return Then::Close,
            Request::Register { port, kind, protocol, highest, lowest, name, extra } => {
                let node = Registered { port, kind, protocol, highest, lowest, extra: extra.to_vec(), connection: connection.id };
                let creation = self.names.register(name.to_vec(), node);
                connection.keeps_name = creation.is_some();
                let result = u8::from(creation.is_none());
                let reply = registered(highest, result, creation.unwrap_or(99));
                let _ = connection.stream.write_all(&reply);
                return if connection.keeps_name { Then::Keep } else { Then::Close };
            }
            Request::Lookup(name) => self.names.find(name).map_or(vec![119, 1], |node| found(name, node)),
            Request::Names => {
                let lines = self.names.iter().map(|(name, node)| format!("name {name} at port {}\n", node.port));
                [port.to_vec(), lines.collect::<String>().into_bytes()].concat()
            }
            Request::Dump => {
                let lines = self
                    .names
                    .iter()
                    .map(|(name, node)| format!("active name     <{name}> at port {}, fd = {}\n", node.port, node.connection));
                [port.to_vec(), lines.collect::<String>().into_bytes()].concat()
            }
            Request::Kill if self.options.relaxed || self.names.is_empty() => {
                let _ = connection.stream.write_all(b"OK");
                return Then::End;
            }
            Request::Kill => b"NO".to_vec(),
            Request::Stop(_) if !self.options.relaxed => return Then::Close,
            Request::Stop(name) => match self.names.connection_of(name) {
                None => b"NOEXIST".to_vec(),
                Some(id) => {
                    self.names.forget(id);
                    b"STOPPED".to_vec()
                }
            },
        };
        let _ = connection.stream.write_all(&reply);
        Then::Close
    }
}

/// The reply to a registration: nodes since OTP 23 have creations of four bytes.
fn registered(highest: u16, result: u8, creation: u32) -> Vec<u8> {
    match highest >= 6 {
        true => [&[118, result][..], &creation.to_be_bytes()].concat(),
        false => [&[121, result][..], &((creation % 3 + 1) as u16).to_be_bytes()].concat(),
    }
}

fn found(name: &[u8], node: &Registered) -> Vec<u8> {
    let mut reply = vec![119, 0];
    reply.extend(node.port.to_be_bytes());
    reply.extend([node.kind, node.protocol]);
    reply.extend(node.highest.to_be_bytes());
    reply.extend(node.lowest.to_be_bytes());
    reply.extend((name.len() as u16).to_be_bytes());
    reply.extend(name);
    reply.extend((node.extra.len() as u16).to_be_bytes());
    reply.extend(&node.extra);
    reply
}
