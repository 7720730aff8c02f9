//! What a library asks of the system: facts about the VM, and to be told when it halts.

use crate::env::Env;
use crate::library::Library;
use heddle_runtime::sched;
use libc::{c_char, c_int, c_void, size_t};

/// `ErlDrvSysInfo`.
#[repr(C)]
struct SystemInfo {
    driver_major: c_int,
    driver_minor: c_int,
    erts_version: *const c_char,
    otp_release: *const c_char,
    has_threads: c_int,
    is_smp: c_int,
    async_threads: c_int,
    schedulers: c_int,
    nif_major: c_int,
    nif_minor: c_int,
    has_dirty_threads: c_int,
}

/// Versions as the VM says them, which `install` sets.
static VERSIONS: std::sync::OnceLock<[std::ffi::CString; 2]> = std::sync::OnceLock::new();

/// The versions of ERTS and OTP that libraries are told.
pub fn set_versions(erts: &str, otp: &str) {
    let text = |s: &str| std::ffi::CString::new(s).expect("a version without zero bytes");
    let _ = VERSIONS.set([text(erts), text(otp)]);
}

/// `ErlNifOption`.
const ON_HALT: c_int = 2;

/// The library that is called.
///
/// # Safety
/// `env` is an environment that the VM made for a call of the library.
// SAFETY: functions of the interface call it with the environment that the library passes.
unsafe fn loaded<'a>(env: *mut Env) -> Option<&'a Library> {
    // SAFETY: the environment of a library, which is loaded while it is called.
    unsafe { (*env).library.as_ref() }
}

api! { FUNCTIONS:
    fn enif_system_info(to: *mut SystemInfo, size: size_t) {
        let [erts, otp] = match VERSIONS.get() {
            Some(versions) => versions.each_ref().map(|v| v.as_ptr()),
            None => [c"".as_ptr(); 2],
        };
        let info = SystemInfo {
            driver_major: 3,
            driver_minor: 3,
            erts_version: erts,
            otp_release: otp,
            has_threads: 1,
            is_smp: 1,
            async_threads: 1,
            schedulers: sched::count() as c_int,
            nif_major: 2,
            nif_minor: 17,
            has_dirty_threads: 1,
        };
        std::ptr::copy_nonoverlapping((&raw const info).cast::<u8>(), to.cast::<u8>(), size.min(size_of::<SystemInfo>()));
    }
    // For `enif_set_option` in `variadic.c`.
    fn heddle_nif_set_option(env: *mut Env, option: c_int, value: *mut c_void) -> c_int {
        let Some(library) = loaded(env) else { return libc::EINVAL };
        match option {
            ON_HALT => crate::halt::on_halt(library, value),
            crate::halt::DELAY_HALT => crate::halt::delay_halt(library),
            _ => libc::EINVAL,
        }
    }
}
