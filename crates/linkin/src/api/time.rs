//! Clocks.

use heddle_runtime::time;
use libc::{c_int, c_ulong};

/// `ErlDrvNowData`.
#[repr(C)]
struct Now {
    mega_seconds: c_ulong,
    seconds: c_ulong,
    micro_seconds: c_ulong,
}

// SAFETY: the crate `nif` defines them with these types.
unsafe extern "C" {
    fn enif_monotonic_time(unit: c_int) -> i64;
    fn enif_time_offset(unit: c_int) -> i64;
    fn enif_convert_time_unit(value: i64, from: c_int, to: c_int) -> i64;
}

api! { FUNCTIONS:
    fn driver_get_now(to: *mut Now) -> c_int {
        if to.is_null() {
            return -1;
        }
        let (us, second) = (time::unique_us() as c_ulong, 1_000_000);
        *to = Now { mega_seconds: us / second / second, seconds: us / second % second, micro_seconds: us % second };
        0
    }
    fn erl_drv_monotonic_time(unit: c_int) -> i64 {
        enif_monotonic_time(unit)
    }
    fn erl_drv_time_offset(unit: c_int) -> i64 {
        enif_time_offset(unit)
    }
    fn erl_drv_convert_time_unit(value: i64, from: c_int, to: c_int) -> i64 {
        enif_convert_time_unit(value, from, to)
    }
}
