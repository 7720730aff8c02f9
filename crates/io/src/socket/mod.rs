//! The natives of `prim_socket`, on which the modules `socket` and, with `{inet_backend, socket}`, `gen_tcp` and `gen_udp` stand.
//!
//! A socket is a magic reference ([`socket::Socket`]). An operation that cannot finish returns `select`; later the process gets
//! `{'$socket', Socket, select, Handle}`, or `{'$socket', Socket, abort, {Handle, Reason}}`, and asks again. One process at a time tries
//! in each direction of a socket; others wait in a queue.

pub mod address;
pub mod answer;
mod block;
mod bytes;
mod close;
mod connect;
mod control;
mod counters;
mod ending;
mod extended_error;
mod handle;
mod info;
mod ioctl;
mod ioctl_table;
mod messages;
mod open;
mod option_table;
mod option_values;
mod options;
mod otp_options;
mod receive;
mod receive_message;
mod receive_request;
mod requestors;
mod send;
mod sendfile;
// The type and its file have the name of what they are.
#[allow(clippy::module_inception)]
mod socket;
mod supports;
mod watch;

use heddle_runtime::natives::Native;
pub use watch::watchers;

pub const TABLES: &[&[Native]] = &[
    close::TABLE,
    connect::TABLE,
    info::TABLE,
    ioctl::TABLE,
    open::TABLE,
    options::TABLE,
    receive::TABLE,
    receive_message::TABLE,
    send::TABLE,
    sendfile::TABLE,
    supports::TABLE,
];

/// Makes sockets hear of the end of processes.
pub fn install() {
    heddle_runtime::exit::add_hook(watch::at_exit);
}
