//! Work on other threads: `driver_async`.

use crate::instance::{self, PortHandle};
use crate::jobs::{self, Function};
use libc::{c_long, c_uint, c_void};

api! { FUNCTIONS:
    fn driver_async(port: PortHandle, key: *mut c_uint, invoke: Function, data: *mut c_void, free: Option<Function>) -> c_long {
        let Some(instance) = instance::of(port) else { return -1 };
        if let Some(key) = key.as_mut() {
            // The thread that it chose.
            *key %= jobs::THREADS;
        }
        jobs::start(&instance, invoke, data, free)
    }
    fn driver_async_port_key(port: PortHandle) -> c_uint {
        instance::of(port).map_or(0, |instance| instance.port.id as c_uint)
    }
}
