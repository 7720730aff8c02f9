//! The calls of a library's functions for a port.

use crate::binary;
use crate::entry::{IoVec, Monitor, NO_BUSY_SIGNALS, SAYS_STARTED, SOFT_BUSY};
use crate::instance::{Instance, Phase};
use crate::memory;
use crate::port::Linked;
use heddle_io::ports::data::Data;
use heddle_io::ports::driver::{After, Driver, bad_argument};
use heddle_io::ports::gate::Limits;
use heddle_io::ports::port::Port;
use heddle_runtime::RefId;
use heddle_runtime::task::{Context, Value};
use libc::{c_char, c_int, c_uint, iovec};
use std::io;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// `PORT_CONTROL_FLAG_BINARY`.
const REPLY_IS_BINARY: i32 = 1;
/// The last reply of `control` was none; not a flag of the interface.
const EMPTY_REPLY: i32 = 1 << 30;
/// `DRIVER_CALL_KEEP_BUFFER`.
const KEEPS_BUFFER: c_uint = 1;

/// What `start` returned, if it is no port's data.
pub fn refusal(data: isize, errno: i32) -> Option<io::Error> {
    match data {
        -1 => Some(io::Error::from_raw_os_error(libc::EINVAL)),
        -2 => Some(io::Error::from_raw_os_error(errno)),
        -3 => Some(bad_argument()),
        _ => None,
    }
}

impl Driver for Linked {
    fn begin(&mut self, port: &Arc<Port>) -> io::Result<()> {
        let library = self.library.clone().expect("a new port");
        if library.loaded.entry().has(NO_BUSY_SIGNALS) {
            port.gate.set_signals(Limits::NEVER);
        }
        let instance = Instance::new(port.clone(), library, null_mut());
        self.instance = Some(instance.clone());
        let (Some(command), Some(start)) = (&self.command, instance.library.loaded.entry().start) else { return Ok(()) };
        let ((data, errno), _) = instance.enter(None, Some(port.owner()), |_| {
            // SAFETY: the thread's errno.
            let errno = unsafe { libc::__errno_location() };
            // SAFETY: a function of the library; the command is a C string, and errno the thread's.
            unsafe { (start(instance.handle(), command.as_ptr().cast_mut()), *errno) }
        });
        match refusal(data as isize, errno) {
            Some(error) => {
                self.dispose();
                Err(error)
            }
            None => {
                instance.set_data(data);
                Ok(())
            }
        }
    }

    fn start(&mut self, _: &Arc<Port>, context: &mut Context<'_>) -> After {
        self.instance().catch_up(context)
    }

    fn command(&mut self, port: &Arc<Port>, from: Option<u64>, data: Vec<u8>, context: &mut Context<'_>) -> Option<After> {
        self.command_in_parts(port, from, data.into(), context)
    }

    fn command_in_parts(&mut self, port: &Arc<Port>, from: Option<u64>, mut data: Data, context: &mut Context<'_>) -> Option<After> {
        let instance = self.instance();
        let entry = instance.library.loaded.entry();
        let size = data.bytes.len();
        port.bytes_out.fetch_add(size as u64, Ordering::Relaxed);
        heddle_io::ports::BYTES_OUT.fetch_add(size as u64, Ordering::Relaxed);
        let Some(outputv) = entry.outputv else {
            let Some(output) = entry.output else { return Some(After::Continue) };
            let at = data.bytes.as_mut_ptr().cast::<c_char>();
            // SAFETY: a function of the library, with the bytes of `data`.
            return Some(instance.enter(Some(context), from, |port| unsafe { output(port, at, size) }).1);
        };
        // The first place is free for the library, as the document says.
        let (mut vector, mut binaries) = (vec![iovec { iov_base: null_mut(), iov_len: 0 }], vec![null_mut()]);
        for part in data.parts() {
            let binary = binary::from_bytes(&data.bytes[part.clone()]);
            vector.push(iovec { iov_base: binary::data(binary).cast(), iov_len: part.len() });
            binaries.push(binary);
        }
        // The library may change the vector.
        let owned = binaries.clone();
        let mut all = IoVec { vsize: vector.len() as c_int, size, iov: vector.as_mut_ptr(), binv: binaries.as_mut_ptr() };
        // SAFETY: a function of the library; everything in the vector lives until it returns.
        let after = instance.enter(Some(context), from, |port| unsafe { outputv(port, &mut all) }).1;
        for binary in owned.into_iter().skip(1) {
            // SAFETY: the reference of this function.
            unsafe { binary::release(binary) };
        }
        Some(after)
    }

    fn says_started(&self) -> bool {
        // A port that its driver makes has no process that waits.
        self.command.is_some() && self.library.as_ref().is_some_and(|library| library.loaded.entry().has(SAYS_STARTED))
    }

    fn takes_parts(&self) -> bool {
        self.library.as_ref().is_some_and(|library| library.loaded.entry().outputv.is_some())
    }

    fn control(&mut self, _: &Arc<Port>, caller: u64, operation: u32, bytes: &[u8], context: &mut Context<'_>) -> (Option<Vec<u8>>, After) {
        let instance = self.instance();
        let Some(control) = instance.library.loaded.entry().control else { return (None, After::Continue) };
        let mut bytes = bytes.to_vec();
        let mut room = [0 as c_char; 64];
        let mut reply = room.as_mut_ptr();
        let ours = reply;
        let (size, after) = instance.enter(Some(context), Some(caller), |port| {
            let (at, len) = (bytes.as_mut_ptr().cast(), bytes.len());
            // SAFETY: a function of the library; the buffers are as large as it is told.
            unsafe { control(port, operation, at, len, &mut reply, room.len()) }
        });
        if size < 0 {
            return (None, after);
        }
        if reply.is_null() {
            // An empty list, whatever the flags are.
            instance.control_flags.fetch_or(EMPTY_REPLY, Ordering::Relaxed);
            return (Some(Vec::new()), after);
        }
        let size = size as usize;
        // SAFETY: the library filled in as many bytes, or returned a binary.
        let bytes = unsafe {
            if reply == ours {
                std::slice::from_raw_parts(reply.cast::<u8>(), size.min(room.len())).to_vec()
            } else if self.replies_in_binary() {
                let binary = reply.cast::<binary::DriverBinary>();
                let bytes = std::slice::from_raw_parts(binary::data(binary), binary::size(binary)).to_vec();
                binary::release(binary);
                bytes
            } else {
                let bytes = std::slice::from_raw_parts(reply.cast::<u8>(), size).to_vec();
                memory::free(reply.cast());
                bytes
            }
        };
        (Some(bytes), after)
    }

    fn replies_in_binary(&self) -> bool {
        let flags = &self.instance().control_flags;
        if flags.load(Ordering::Relaxed) & EMPTY_REPLY != 0 {
            flags.fetch_and(!EMPTY_REPLY, Ordering::Relaxed);
            return false;
        }
        flags.load(Ordering::Relaxed) & REPLY_IS_BINARY != 0
    }

    fn port_call(
        &mut self,
        _: &Arc<Port>,
        caller: u64,
        operation: u32,
        bytes: &[u8],
        context: &mut Context<'_>,
    ) -> (Option<Vec<u8>>, After) {
        let instance = self.instance();
        let Some(call) = instance.library.loaded.entry().call else { return (None, After::Continue) };
        let mut bytes = bytes.to_vec();
        let mut room = [0 as c_char; 256];
        let mut reply = room.as_mut_ptr();
        let ours = reply;
        let mut flags: c_uint = 0;
        let (size, after) = instance.enter(Some(context), Some(caller), |port| {
            let (at, len) = (bytes.as_mut_ptr().cast(), bytes.len());
            // SAFETY: a function of the library; the buffers are as large as it is told.
            unsafe { call(port, operation, at, len, &mut reply, room.len(), &mut flags) }
        });
        if size <= 0 || reply.is_null() {
            return (None, after);
        }
        // SAFETY: the library filled in as many bytes.
        let bytes = unsafe { std::slice::from_raw_parts(reply.cast::<u8>(), size as usize) }.to_vec();
        if reply != ours && flags & KEEPS_BUFFER == 0 {
            // SAFETY: the library allocated it for the reply.
            unsafe { memory::free(reply.cast()) };
        }
        (Some(bytes), after)
    }

    fn message(&mut self, _: &Arc<Port>, message: Value<'_>, context: &mut Context<'_>) -> After {
        let Some(parts) = message.as_tuple() else { return After::Continue };
        // SAFETY: used at once.
        let Some(reference) = parts.get(1).and_then(|part| RefId::of(unsafe { part.term() })) else { return After::Continue };
        let instance = self.instance();
        if !instance.monitors.lock().unwrap().contains_key(&reference) {
            return After::Continue;
        }
        let monitor = Monitor::of(reference);
        let after = match instance.library.loaded.entry().process_exit {
            // SAFETY: a function of the library, for a port of it.
            Some(process_exit) => self.run(context, |data| unsafe { process_exit(data, &monitor) }),
            None => After::Continue,
        };
        // After the call, which may ask for the process.
        instance.monitors.lock().unwrap().remove(&reference);
        after
    }

    fn timeout(&mut self, _: &Arc<Port>, context: &mut Context<'_>) -> After {
        let instance = self.instance();
        instance.timer_ns.store(0, Ordering::Relaxed);
        match instance.library.loaded.entry().timeout {
            // SAFETY: a function of the library, for a port of it.
            Some(timeout) => self.run(context, |data| unsafe { timeout(data) }),
            None => After::Continue,
        }
    }

    fn outstanding(&self) -> usize {
        self.instance.as_ref().map_or(0, |instance| instance.queue.lock().unwrap().bytes())
    }

    fn drain(&mut self, _: &Arc<Port>, context: &mut Context<'_>) {
        let instance = self.instance();
        instance.set_phase(Phase::Flushes);
        if let Some(flush) = instance.library.loaded.entry().flush {
            // SAFETY: a function of the library, for a port of it.
            let _ = self.run(context, |data| unsafe { flush(data) });
        }
    }

    fn close(&mut self, port: &Port, _: bool) {
        let instance = self.instance();
        // The last call may send again, unless the port has flushed its queue.
        if instance.phase() == Phase::Failed {
            instance.set_phase(Phase::Open);
        }
        if let Some(stop) = instance.library.loaded.entry().stop {
            // SAFETY: a function of the library, for a port of it that ends.
            instance.enter(None, None, |data| unsafe { stop(data) });
        }
        self.dispose();
        port.started(port.term());
        if let Some(library) = self.library.take() {
            library.closed();
        }
    }

    fn takes_force(&self) -> bool {
        self.library.as_ref().is_some_and(|library| library.loaded.entry().has(SOFT_BUSY))
    }
}
