//! Everything that Erlang programs exchange with the operating system: ports, sockets, files, the terminal, the environment.

pub mod errno;
pub mod files;
pub mod heart;
pub mod inet;
pub mod net;
pub mod os;
pub mod packet;
pub mod ports;
pub mod socket;
pub mod tty;

use heddle_runtime::natives::Native;

pub const TABLES: &[&[Native]] = &[
    files::buffer::TABLE,
    files::file::TABLE,
    files::file_info::TABLE,
    files::names::TABLE,
    files::paths::TABLE,
    net::interfaces::TABLE,
    net::names::TABLE,
    net::services::TABLE,
    os::TABLE,
    ports::natives::TABLE,
    tty::natives::TABLE,
];

/// The drivers that `open_port` can start.
const DRIVERS: &[ports::driver::DriverEntry] =
    &[ports::ram_file::ENTRY, ports::trace_file::ENTRY, ports::trace_ip::ENTRY, inet::TCP_ENTRY, inet::UDP_ENTRY, inet::resolver::ENTRY];

/// Makes the natives of this crate callable.
pub fn register() {
    ports::driver::install(DRIVERS);
    socket::install();
    TABLES.iter().chain(socket::TABLES).copied().for_each(heddle_runtime::natives::register);
}
