//! What two nodes tell each other in the handshake that they can do (ERTS, `dist.h`; the bits are those of the protocol).

pub const PUBLISHED: u64 = 0x1;
pub const ATOM_CACHE: u64 = 0x2000;
pub const EXIT_PAYLOAD: u64 = 0x40_0000;
pub const FRAGMENTS: u64 = 0x80_0000;
pub const SEND_SENDER: u64 = 0x8_0000;
pub const SPAWN: u64 = 0x1_0000_0000;
pub const ALIAS: u64 = 0x8_0000_0000;

/// A node without one of these is refused.
pub const MANDATORY: u64 = 0x4_0307_0f94;
/// What this node can do.
pub const DEFAULT: u64 = 0xd_07df_7fbc;
/// What the code that makes a connection may leave out.
pub const REJECTABLE: u64 = ATOM_CACHE | 0x40 | FRAGMENTS | 0x2;
/// What needs messages in the order in which they were sent.
pub const STRICT_ORDER: u64 = ATOM_CACHE;
