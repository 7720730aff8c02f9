//! Types of sockets.

/// The type of a socket, which its driver decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Stream,
    Datagram,
}

impl Kind {
    /// The number that requests have for it.
    pub fn code(self) -> u8 {
        match self {
            Kind::Stream => 1,
            Kind::Datagram => 2,
        }
    }
    /// The system's type and protocol.
    pub fn system(self) -> (i32, i32) {
        match self {
            Kind::Stream => (libc::SOCK_STREAM, libc::IPPROTO_TCP),
            Kind::Datagram => (libc::SOCK_DGRAM, libc::IPPROTO_UDP),
        }
    }
}
