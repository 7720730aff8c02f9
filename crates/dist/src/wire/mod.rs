//! What nodes say to each other after the handshake: control messages, atom caches, fragments. Bytes and terms in, bytes and values
//! out; no sockets, no processes, no locks.
//!
//! A message goes out in three steps. Any thread encodes it with a [`DistEncoder`], which gives an [`OutMessage`]. When its turn has
//! come, the one thread that has the connection's [`OutCache`] makes a [`Fragmenter`] of it, which gives packets.
//!
//! A packet that comes in goes to the connection's [`Assembler`]. The [`Received`] message is split into its [`Control`] and a
//! [`Payload`], which may be decoded later and by another thread.

mod assembler;
mod atoms;
mod control;
mod encoder;
mod error;
mod fragmenter;
mod framing;
mod in_cache;
mod message;
mod out_cache;
mod received;

pub use assembler::{Assembler, Limits};
pub use atoms::AtomList;
pub use control::{Control, Malformed, SPAWN_FLAG_LINK, SPAWN_FLAG_MONITOR, Spawned, Target};
pub use encoder::DistEncoder;
pub use error::WireError;
pub use fragmenter::{Fragmenter, MAX_FRAGMENT_BYTES, Packet, Piece, Pieces};
pub use framing::{FLAG_FRAGMENTS, FLAG_HEADER_ATOM_CACHE, Framing};
pub use heddle_term::etf::{AtomBudget, Step};
pub use heddle_term::held::HeldBytes;
pub use in_cache::{InCache, InPacket};
pub use message::OutMessage;
pub use out_cache::OutCache;
pub use received::{Payload, Received};
