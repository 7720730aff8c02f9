//! What every socket has, of whichever type: a descriptor, a family, options, figures; and the requests that are the same for all.

use super::address::{self, Address, LOCAL};
use super::deadline::Timer;
use super::kind::Kind;
use super::options::SocketOptions;
use super::reason::{Reason, Reply, last_error};
use super::request::{Request, number};
use super::traffic::Traffic;
use super::{interfaces, netns, services};
use crate::ports::poll;
use crate::ports::port::set_nonblocking;
use heddle_term::Atom;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

pub struct Socket {
    pub fd: Option<OwnedFd>,
    pub family: u8,
    pub options: SocketOptions,
    pub received: Traffic,
    pub sent: Traffic,
    pub timer: Timer,
    /// The port must close, for this reason.
    pub ends_port: Option<Atom>,
    /// What `sockname` and `peername` answer instead of asking the system, if a process has set it. Boxed, since
    /// hardly any socket has them.
    told_name: Option<Box<Address>>,
    told_peer: Option<Box<Address>>,
    /// The descriptor came from the program (`fdopen`), so the port does not close it.
    pub is_shared: bool,
    next_reference: u16,
}

impl Socket {
    pub fn new(kind: Kind) -> Socket {
        Socket::with(None, 0, SocketOptions::new(kind))
    }

    /// A socket with this descriptor.
    pub fn with(fd: Option<OwnedFd>, family: u8, options: SocketOptions) -> Socket {
        Socket {
            fd,
            family,
            options,
            received: Traffic::default(),
            sent: Traffic::default(),
            timer: Timer::default(),
            ends_port: None,
            told_name: None,
            told_peer: None,
            is_shared: false,
            next_reference: 0,
        }
    }

    pub fn next_reference(&mut self) -> u16 {
        self.next_reference = self.next_reference.wrapping_add(1);
        self.next_reference
    }

    pub fn is_open(&self) -> bool {
        self.fd.is_some()
    }

    /// The descriptor, for requests that no closed socket takes.
    pub fn open_fd(&self) -> Result<&OwnedFd, Reason> {
        self.fd.as_ref().ok_or("exbadport")
    }

    /// The descriptor, for requests that ask the system, which then says that there is none.
    fn fd(&self) -> Result<&OwnedFd, Reason> {
        self.fd.as_ref().ok_or("ebadf")
    }

    /// The requests that are the same for all types. `queued_bytes`: what waits to be written.
    pub fn request(&mut self, is_connected: bool, operation: u32, data: &[u8]) -> Reply {
        match operation {
            4 if !is_connected => Err("enotconn"),
            4 => self.peer(),
            5 => self.name(),
            6 => self.bind(data),
            8 => self.options.get(self.fd.as_ref(), self.family, data),
            12 if !data.is_empty() => Err("einval"),
            12 => host_name(),
            14 => Ok((self.fd.as_ref().ok_or("einval")?.as_raw_fd() as u32).to_be_bytes().to_vec()),
            15 if self.family == 0 => Err("einval"),
            15 => Ok([(self.family as u32).to_be_bytes(), (self.options.kind.code() as u32).to_be_bytes()].concat()),
            17 => services::port_of(&mut Request(data)),
            18 => services::name_of(&mut Request(data)),
            19 => {
                self.told_name = self.told(data)?;
                Ok(Vec::new())
            }
            20 => {
                self.told_peer = self.told(data)?;
                Ok(Vec::new())
            }
            21 => interfaces::names(self.open_fd()?),
            22 => interfaces::get(self.open_fd()?, &mut Request(data)).ok_or("einval"),
            23 => interfaces::set(self.open_fd()?, &mut Request(data)).ok_or("einval"),
            25 => {
                self.open_fd()?;
                interfaces::all(self.options.netns.as_deref())
            }
            29 | 30 if data.len() != 4 => Err("einval"),
            // Only SCTP has several addresses.
            29 => Ok(Address::ask(self.open_fd()?, libc::getsockname)?.bytes()),
            30 => Ok(Address::ask(self.open_fd()?, libc::getpeername)?.bytes()),
            _ => Err("exbadport"),
        }
    }

    /// `[Family, Type]`.
    pub fn open(&mut self, data: &[u8]) -> Result<(), Reason> {
        let &[family, kind] = data else { return Err("einval") };
        let domain = self.domain(family, kind)?;
        if self.is_open() {
            return Err("exbadseq");
        }
        let (kind, protocol) = self.options.kind.system();
        let protocol = if family == LOCAL { 0 } else { protocol };
        let fd = match &self.options.netns {
            Some(path) => netns::within(path, move || open_socket(domain, kind, protocol))?,
            None => open_socket(domain, kind, protocol)?,
        };
        (self.fd, self.family) = (Some(fd), family);
        Ok(())
    }

    fn domain(&self, family: u8, kind: u8) -> Result<i32, Reason> {
        let domain = address::domain(family).ok_or("eafnosupport")?;
        match kind {
            kind if kind == self.options.kind.code() => Ok(domain),
            // What the system says of UDP over a stream.
            1 if self.options.kind == Kind::Datagram && family != LOCAL => Err("eprotonosupport"),
            _ => Err("einval"),
        }
    }

    /// Takes over a descriptor that the program has: `[Family, Type, Fd:32, Bound:32]`, without the last for a bound one.
    pub fn adopt(&mut self, data: &[u8]) -> Result<(), Reason> {
        let (&[family, kind, ..], 6 | 10) = (data, data.len()) else { return Err("einval") };
        let domain = self.domain(family, kind)?;
        let (fd, bound) = (number(data, 2)? as i32, data.len() == 6 || number(data, 6)? != 0);
        if self.is_open() {
            return Err("exbadseq");
        }
        // SAFETY: a plain system call, which fails for what is no descriptor.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
            return Err("ebadf");
        }
        // SAFETY: the program says that the descriptor is the port's from now on. It is open, and `is_shared` says that it is not closed.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let named = if bound { Address::ask(&fd, libc::getsockname).map(|name| name.family() == domain) } else { Ok(true) };
        let refused = named.and_then(|is_of_family| if is_of_family { Ok(()) } else { Err("einval") });
        if refused.is_err() {
            let _ = fd.into_raw_fd();
            return refused;
        }
        set_nonblocking(fd.as_raw_fd());
        (self.fd, self.family, self.is_shared) = (Some(fd), family, true);
        Ok(())
    }

    fn bind(&mut self, data: &[u8]) -> Reply {
        if data.len() < 2 {
            return Err("einval");
        }
        let fd = self.open_fd()?;
        let to = Address::parse(self.family, &mut Request(data))?;
        let (pointer, len) = to.pointer();
        // SAFETY: the address is as long as said.
        if unsafe { libc::bind(fd.as_raw_fd(), pointer, len) } < 0 {
            return Err(last_error());
        }
        let port = if to.port() == 0 { Address::ask(fd, libc::getsockname)?.port() } else { to.port() };
        Ok(port.to_be_bytes().to_vec())
    }

    fn peer(&self) -> Reply {
        match &self.told_peer {
            Some(told) => Ok(told.bytes()),
            None => Ok(Address::ask(self.fd()?, libc::getpeername)?.bytes()),
        }
    }

    fn name(&self) -> Reply {
        match &self.told_name {
            Some(told) => Ok(told.bytes()),
            None => Ok(Address::ask(self.fd()?, libc::getsockname)?.bytes()),
        }
    }

    /// The address that `setsockname` or `setpeername` sets; none: the system is asked again.
    fn told(&self, data: &[u8]) -> Result<Option<Box<Address>>, Reason> {
        match data.len() {
            0 => Ok(None),
            1 => Err("einval"),
            _ => Address::parse(self.family, &mut Request(data)).map(|address| Some(Box::new(address))),
        }
    }

    /// True if a close of the connection discards what is not sent yet (`{linger, {true, 0}}`).
    pub fn lingers_not(&self) -> bool {
        const LINGER: u8 = 3;
        self.options.get(self.fd.as_ref(), self.family, &[LINGER]).is_ok_and(|value| value == [LINGER, 0, 0, 0, 1, 0, 0, 0, 0])
    }

    /// Parts from the descriptor. Returns it, or, if the port must not close it, a copy, to which what is queued can still be written.
    pub fn abandon(&mut self) -> Option<OwnedFd> {
        let fd = self.fd.take()?;
        poll::forget(fd.as_raw_fd());
        if self.is_shared {
            let copy = fd.try_clone().ok();
            let _ = fd.into_raw_fd();
            return copy;
        }
        Some(fd)
    }
}

fn open_socket(domain: i32, kind: i32, protocol: i32) -> Result<OwnedFd, Reason> {
    // SAFETY: a plain system call.
    let fd = unsafe { libc::socket(domain, kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC, protocol) };
    if fd < 0 {
        return Err(last_error());
    }
    // SAFETY: fresh and ours.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn host_name() -> Reply {
    let mut name = [0u8; 256];
    // SAFETY: room for the name, which is cut where it is longer.
    if unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) } < 0 {
        return Err(last_error());
    }
    Ok(name.iter().copied().take_while(|&b| b != 0).collect())
}
