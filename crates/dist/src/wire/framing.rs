//! How packets of a connection begin, as the two nodes agreed in the handshake.

/// `DFLAG_DIST_HDR_ATOM_CACHE`: atoms are in a cache, and packets have a header.
pub const FLAG_HEADER_ATOM_CACHE: u64 = 0x2000;
/// `DFLAG_FRAGMENTS`: long messages come in several packets, and packets have a header.
pub const FLAG_FRAGMENTS: u64 = 0x80_0000;

/// First bytes of packets with a header, after the version.
pub(super) const WHOLE: u8 = 68;
pub(super) const FIRST_FRAGMENT: u8 = 69;
pub(super) const NEXT_FRAGMENT: u8 = 70;
/// First byte of a packet without a header.
pub(super) const PASS_THROUGH: u8 = 112;

/// What both nodes can do, of what the packets depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Framing {
    pub atom_cache: bool,
    pub fragments: bool,
}

impl Framing {
    /// Of the flags that both nodes have.
    pub const fn of_flags(flags: u64) -> Framing {
        Framing { atom_cache: flags & FLAG_HEADER_ATOM_CACHE != 0, fragments: flags & FLAG_FRAGMENTS != 0 }
    }

    /// Of a connection that is not up: what is encoded so can be sent whatever the nodes agree on.
    pub const UNKNOWN: Framing = Framing { atom_cache: false, fragments: true };

    /// True if packets have a header and their terms no version byte. Else it is the other way round.
    pub const fn has_header(self) -> bool {
        self.atom_cache || self.fragments
    }
}
