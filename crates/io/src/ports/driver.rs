//! Drivers: what does the work of a port. Programs and descriptors have one (`stream`), sockets another (`inet`). Only the port's task calls
//! the driver, so a driver needs no lock. This module knows no driver: `install` receives the list of those that `open_port` can name.

use super::channel::Channel;
use super::data::Data;
use super::options::PortOptions;
use super::poll::Interest;
use super::port::Port;
use heddle_runtime::task::{Context, Owned, Value};
use heddle_term::Atom;
use std::any::Any;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, RwLock};

/// What the port does after a call of its driver.
pub enum After {
    Continue,
    /// The port closes, for this reason, when nothing is outstanding any more.
    Close(Owned),
    /// The port ends at once, for this reason.
    End(Owned),
}

impl After {
    /// Ends the port, since an operation of the driver could not be done. The reason is the error's name.
    pub fn failed(error: &io::Error) -> After {
        let name = crate::errno::name(error.raw_os_error().unwrap_or(libc::EIO));
        After::End(Owned::atom(Atom::new(name)))
    }
}

/// A driver of one port. Its functions are called by the port's task, one at a time. They must not block.
pub trait Driver: Any + Send {
    /// The first call, by the process that opens the port, before the port's task is there. If it fails there is no port.
    fn begin(&mut self, _: &Arc<Port>) -> io::Result<()> {
        Ok(())
    }

    /// The first call by the port's task. From now on other threads can find the port.
    fn start(&mut self, _: &Arc<Port>, _: &mut Context<'_>) -> After {
        After::Continue
    }

    /// Data for the driver, from the process with the pid `from`; None: from the runtime, for a tracer that is a port.
    /// Returns None if the driver takes no such data.
    fn command(&mut self, port: &Arc<Port>, from: Option<u64>, data: Vec<u8>, context: &mut Context<'_>) -> Option<After>;

    /// The same with the parts of the data, for a driver that takes them.
    fn command_in_parts(&mut self, port: &Arc<Port>, from: Option<u64>, data: Data, context: &mut Context<'_>) -> Option<After> {
        self.command(port, from, data.bytes, context)
    }

    /// `port_control` by the process with the pid `caller`. The reply is None if the driver knows no such operation.
    fn control(&mut self, _: &Arc<Port>, _caller: u64, _operation: u32, _: &[u8], _: &mut Context<'_>) -> (Option<Vec<u8>>, After) {
        (None, After::Continue)
    }

    /// True if replies of `control` become binaries, false if lists.
    fn replies_in_binary(&self) -> bool {
        false
    }

    /// `port_call` by the process with the pid `caller`, with a term in the external format. The reply, in the same format, is None if the
    /// driver knows no such operation.
    fn port_call(&mut self, _: &Arc<Port>, _caller: u64, _operation: u32, _: &[u8], _: &mut Context<'_>) -> (Option<Vec<u8>>, After) {
        (None, After::Continue)
    }

    /// A message: that of a monitor which the driver started.
    fn message(&mut self, _: &Arc<Port>, _: Value<'_>, _: &mut Context<'_>) -> After {
        After::Continue
    }

    /// A descriptor that the driver watches (`Port::watch`) is ready.
    fn ready(&mut self, _: &Arc<Port>, _: Interest, _: &mut Context<'_>) -> After {
        After::Continue
    }

    /// The driver's timer (`Context::set_timer`) has fired.
    fn timeout(&mut self, _: &Arc<Port>, _: &mut Context<'_>) -> After {
        After::Continue
    }

    /// From now on the port carries a connection to another node (`channel`). Returns false if the driver cannot.
    fn carry(&mut self, _: Arc<dyn Channel>) -> bool {
        false
    }

    /// The channel may have packets to write.
    fn pump(&mut self, _: &Arc<Port>, _: &mut Context<'_>) -> After {
        After::Continue
    }

    /// Bytes that the driver still has to write. A port that closes waits until there are none. A driver that writes its rest after `close`
    /// returns 0.
    fn outstanding(&self) -> usize {
        0
    }

    /// Bytes that wait to be written, as `port_info(queue_size)` shows them.
    fn queued(&self) -> usize {
        self.outstanding()
    }

    /// The port closes and waits until nothing is outstanding: the driver takes no more input.
    fn drain(&mut self, _: &Arc<Port>, _: &mut Context<'_>) {}

    /// The port ends. `discards`: data that is not written yet must not be written.
    fn close(&mut self, _: &Port, _discards: bool) {}

    /// True if `open_port` waits until the driver calls `Port::started`.
    fn says_started(&self) -> bool {
        false
    }

    /// True if the driver gets data in the parts in which it is sent.
    fn takes_parts(&self) -> bool {
        false
    }

    /// True if `port_command` with the option `force` is allowed.
    fn takes_force(&self) -> bool {
        false
    }
}

/// A name in `open_port` that may be a driver's.
pub enum DriverName<'a> {
    /// `{spawn, Command}` or `{spawn_driver, Command}`.
    Command(&'a [u8]),
    /// `{spawn_executable, File}`.
    Executable(&'a Path),
}

/// The error of a driver that refuses to start with what `open_port` got: `badarg`.
pub fn bad_argument() -> io::Error {
    io::ErrorKind::InvalidInput.into()
}

/// A driver that `open_port` can start.
pub struct DriverEntry {
    /// True if the name is this driver's.
    pub is_meant: fn(&DriverName<'_>) -> bool,
    pub open: fn(&OsStr, &PortOptions) -> io::Result<Box<dyn Driver>>,
}

static ENTRIES: RwLock<Vec<&'static DriverEntry>> = RwLock::new(Vec::new());

/// Makes drivers known, after those that are known.
pub fn install(entries: &'static [DriverEntry]) {
    ENTRIES.write().unwrap().extend(entries);
}

fn find(name: &DriverName<'_>) -> Option<&'static DriverEntry> {
    ENTRIES.read().unwrap().iter().copied().find(|entry| (entry.is_meant)(name))
}

/// The driver of a command.
pub fn of_command(command: &OsStr) -> Option<&'static DriverEntry> {
    find(&DriverName::Command(command.as_bytes()))
}

/// The driver that stands in for a program.
pub fn of_program(file: &Path) -> Option<&'static DriverEntry> {
    find(&DriverName::Executable(file))
}
