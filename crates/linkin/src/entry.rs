//! The structure in which a library describes its driver: `ErlDrvEntry`.

use crate::binary::DriverBinary;
use crate::instance::PortHandle;
use libc::{c_char, c_int, c_uint, c_void, iovec, size_t, ssize_t};

/// `ErlDrvData`: what the library keeps of one port.
pub type Data = *mut c_void;

/// `ErlIOVec`.
#[repr(C)]
pub struct IoVec {
    pub vsize: c_int,
    pub size: size_t,
    pub iov: *mut iovec,
    pub binv: *mut *mut DriverBinary,
}

/// `ErlDrvMonitor`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Monitor {
    pub words: [u32; 3],
    pub unused: [u32; 5],
}

pub type Call = unsafe extern "C" fn(Data, c_uint, *mut c_char, size_t, *mut *mut c_char, size_t, *mut c_uint) -> ssize_t;
pub type Control = unsafe extern "C" fn(Data, c_uint, *mut c_char, size_t, *mut *mut c_char, size_t) -> ssize_t;
pub type OnPort = unsafe extern "C" fn(Data);
pub type OnEvent = unsafe extern "C" fn(Data, isize);

#[repr(C)]
pub struct Entry {
    pub init: Option<unsafe extern "C" fn() -> c_int>,
    pub start: Option<unsafe extern "C" fn(PortHandle, *mut c_char) -> Data>,
    pub stop: Option<OnPort>,
    pub output: Option<unsafe extern "C" fn(Data, *mut c_char, size_t)>,
    pub ready_input: Option<OnEvent>,
    pub ready_output: Option<OnEvent>,
    pub driver_name: *const c_char,
    pub finish: Option<unsafe extern "C" fn()>,
    pub handle: *mut c_void,
    pub control: Option<Control>,
    pub timeout: Option<OnPort>,
    pub outputv: Option<unsafe extern "C" fn(Data, *mut IoVec)>,
    pub ready_async: Option<unsafe extern "C" fn(Data, *mut c_void)>,
    pub flush: Option<OnPort>,
    pub call: Option<Call>,
    pub unused: *mut c_void,
    pub marker: c_int,
    pub major: c_int,
    pub minor: c_int,
    pub flags: c_int,
    pub handle2: *mut c_void,
    pub process_exit: Option<unsafe extern "C" fn(Data, *const Monitor)>,
    pub stop_select: Option<unsafe extern "C" fn(isize, *mut c_void)>,
    /// Version 3.2.
    pub emergency_close: Option<OnPort>,
}

/// `ERL_DRV_EXTENDED_MARKER`.
const MARKER: c_int = 0xfeee_eeed_u32 as c_int;
pub const MAJOR: c_int = 3;
pub const MINOR: c_int = 3;
/// The oldest version that is loaded.
const OLDEST_MAJOR: c_int = 2;

/// `ERL_DRV_FLAG_*`.
pub const USES_PORT_LOCKING: c_int = 1;
pub const SOFT_BUSY: c_int = 2;
pub const NO_BUSY_SIGNALS: c_int = 4;
pub const SAYS_STARTED: c_int = 8;

impl Entry {
    /// True if the library was made for a version of the interface that is served.
    pub fn is_served(&self) -> bool {
        self.marker == MARKER && self.major >= OLDEST_MAJOR && (self.major, self.minor) <= (MAJOR, MINOR)
    }
    /// Addresses and names of the functions that it has.
    pub fn functions(&self) -> Vec<(usize, String)> {
        let all = [
            (self.init.map_or(0, |f| f as usize), "init"),
            (self.start.map_or(0, |f| f as usize), "start"),
            (self.stop.map_or(0, |f| f as usize), "stop"),
            (self.output.map_or(0, |f| f as usize), "output"),
            (self.ready_input.map_or(0, |f| f as usize), "ready_input"),
            (self.ready_output.map_or(0, |f| f as usize), "ready_output"),
            (self.finish.map_or(0, |f| f as usize), "finish"),
            (self.control.map_or(0, |f| f as usize), "control"),
            (self.timeout.map_or(0, |f| f as usize), "timeout"),
            (self.outputv.map_or(0, |f| f as usize), "outputv"),
            (self.ready_async.map_or(0, |f| f as usize), "ready_async"),
            (self.flush.map_or(0, |f| f as usize), "flush"),
            (self.call.map_or(0, |f| f as usize), "call"),
            (self.process_exit.map_or(0, |f| f as usize), "process_exit"),
            (self.stop_select.map_or(0, |f| f as usize), "stop_select"),
        ];
        all.into_iter().filter(|(address, _)| *address != 0).map(|(address, name)| (address, name.to_string())).collect()
    }
    pub fn has(&self, flag: c_int) -> bool {
        self.flags & flag != 0
    }
    pub fn emergency_close(&self) -> Option<OnPort> {
        self.emergency_close.filter(|_| (self.major, self.minor) >= (3, 2))
    }
}
