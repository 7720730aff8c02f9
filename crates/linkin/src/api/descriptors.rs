//! Descriptors: `driver_select`.

use crate::descriptors;
use crate::instance::{self, PortHandle};
use heddle_io::ports::poll::Interest;
use heddle_runtime::exit::log_message;
use libc::c_int;

/// `ERL_DRV_READ` and so on.
const READ: c_int = 1;
const WRITE: c_int = 2;
const USE: c_int = 4;
/// With `USE`: `stop_select` is not called.
const NO_CALLBACK: c_int = 8;

api! { FUNCTIONS:
    fn driver_select(port: PortHandle, event: isize, mode: c_int, on: c_int) -> c_int {
        let (Some(instance), Ok(fd)) = (instance::of(port), c_int::try_from(event)) else { return -1 };
        let all = [(READ, Interest::Read), (WRITE, Interest::Write)];
        let interests: Vec<Interest> = all.iter().filter(|(bit, _)| mode & bit != 0).map(|(_, interest)| *interest).collect();
        if on != 0 {
            return if descriptors::select(&instance, fd, &interests) { 0 } else { -1 };
        }
        if fd < 0 {
            return -1;
        }
        let is_end = mode & (USE | NO_CALLBACK) == USE;
        descriptors::deselect(&instance, fd, if is_end { &[Interest::Read, Interest::Write] } else { &interests });
        if mode & USE != 0 {
            // Without the call-back it stays in use for what is still selected.
            descriptors::stop(&instance, fd, is_end);
            if is_end {
                match instance.library.loaded.entry().stop_select {
                    Some(stop) => stop(event, std::ptr::null_mut()),
                    None => log_message("error", &format!("Driver does not implement stop_select callback (event={event})!\n")),
                }
            }
        }
        0
    }
}
