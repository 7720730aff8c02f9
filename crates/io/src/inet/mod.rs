//! The drivers `tcp_inet` and `udp_inet`: stream and datagram sockets, as `prim_inet` speaks to them (and so `gen_tcp`, `gen_udp` and `inet`
//! above it). Requests come as `port_control` with an operation and bytes, and data to send as `port_command`. An operation that takes time is
//! answered by a message `{inet_async, Port, Reference, Result}`. SCTP is not there.
//!
//! A socket is a port whose driver is a `Tcp` or a `Udp`. Both contain a `Socket`, which does what is the same for both. The port's task does
//! all of its work, so its messages are in the order of the bytes.

pub(crate) mod address;
mod ancillary;
mod blocks;
mod caller;
mod connection;
mod datagrams;
mod deadline;
mod endings;
mod input;
mod interfaces;
mod kind;
pub(crate) mod netns;
mod operation;
mod options;
mod output;
mod reason;
mod request;
pub mod resolver;
mod sendfile;
pub(crate) mod services;
mod socket;
mod system_options;
mod tcp;
mod traffic;
mod udp;

use crate::ports::driver::{DriverEntry, DriverName};
use tcp::Tcp;
use udp::Udp;

pub const TCP_ENTRY: DriverEntry = DriverEntry { is_meant: |name| is_command(name, tcp::NAME), open: |_, _| Ok(Box::new(Tcp::default())) };
pub const UDP_ENTRY: DriverEntry = DriverEntry { is_meant: |name| is_command(name, udp::NAME), open: |_, _| Ok(Box::new(Udp::default())) };

fn is_command(name: &DriverName<'_>, driver: &str) -> bool {
    matches!(name, DriverName::Command(command) if *command == driver.as_bytes())
}
