//! Libraries of NIFs and drivers that are loaded: which of them, and which of its functions, an address of the machine's code belongs to.
//! A crash report asks, so nothing here waits.

use std::collections::HashMap;
use std::ffi::{CStr, c_void};
use std::sync::Mutex;

/// What a crash report says of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignLibrary {
    /// What it is to the program: `the NIF library of module m`.
    pub role: String,
    /// Addresses and names of the functions that the emulator calls.
    pub functions: Vec<(usize, String)>,
}

/// Of an address: the file, and the function that the emulator called.
#[derive(Debug, PartialEq, Eq)]
pub struct Culprit {
    pub file: String,
    pub role: String,
    pub function: Option<String>,
}

/// By the address at which the library's file begins in memory. The same file may have been loaded several times.
static LOADED: Mutex<Option<HashMap<usize, Vec<ForeignLibrary>>>> = Mutex::new(None);

/// The address at which the file that an address belongs to begins, and the file's name.
fn file_of(address: usize) -> Option<(usize, String)> {
    // SAFETY: dladdr takes any address; the name stays while the file is loaded, and is copied before this returns.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address as *const c_void, &raw mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        Some((info.dli_fbase as usize, CStr::from_ptr(info.dli_fname).to_string_lossy().into_owned()))
    }
}

/// A library was loaded; `inside` is an address in it.
pub fn loaded(inside: usize, library: ForeignLibrary) {
    if let Some((base, _)) = file_of(inside) {
        LOADED.lock().unwrap().get_or_insert_default().entry(base).or_default().push(library);
    }
}

/// The library will be unloaded now; `inside` is an address in it.
pub fn unloaded(inside: usize, role: &str) {
    if let Some((base, _)) = file_of(inside)
        && let Some(all) = LOADED.lock().unwrap().as_mut()
        && let Some(of_file) = all.get_mut(&base)
    {
        if let Some(place) = of_file.iter().position(|l| l.role == role) {
            of_file.swap_remove(place);
        }
        if of_file.is_empty() {
            all.remove(&base);
        }
    }
}

/// The library that code was in which was called from these addresses, the innermost call first. The outermost call in the library was that of
/// the emulator. `faulted`: the innermost address in the library may be the instruction that faulted; all others are addresses to return to. None
/// if no address is in a library, or if another thread loads one just now.
pub fn culprit(frames: &[usize], faulted: bool) -> Option<Culprit> {
    let all = LOADED.try_lock().ok()?;
    let all = all.as_ref()?;
    let (innermost, (base, file)) =
        frames.iter().enumerate().find_map(|(n, &address)| Some((n, file_of(address).filter(|(base, _)| all.contains_key(base))?)))?;
    let outermost = frames.iter().rposition(|&address| file_of(address).is_some_and(|(other, _)| other == base))?;
    // A call that never returns may be the last instruction of its function, so the address to return to is that of the next one.
    let inside = if faulted && outermost == innermost { frames[outermost] } else { frames[outermost] - 1 };
    let libraries = &all[&base];
    let functions = libraries.iter().flat_map(|l| l.functions.iter().map(move |(at, name)| (*at, name, l)));
    let (library, function) = match functions.filter(|(at, ..)| *at <= inside).max_by_key(|(at, ..)| *at) {
        Some((_, name, library)) => (library, Some(name.clone())),
        None => (&libraries[0], None),
    };
    Some(Culprit { file, role: library.role.clone(), function })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_belongs_to_the_function_before_it_and_to_no_library_once_that_is_gone() {
        // The C library stands for one of a program.
        let (first, second) = (libc::strlen as *const () as usize, libc::printf as *const () as usize);
        let (low, high) = (first.min(second), first.max(second));
        let library = ForeignLibrary {
            role: "the NIF library of module m".into(),
            functions: vec![(low, "m:low/1".into()), (high, "m:high/1".into())],
        };
        let here = an_address_belongs_to_the_function_before_it_and_to_no_library_once_that_is_gone as fn() as usize;
        assert_eq!(culprit(&[here, low + 1], true), None);
        loaded(low, library);
        let found = culprit(&[low + 1, high + 1, here], true).unwrap();
        assert_eq!((found.function.as_deref(), found.role.as_str()), (Some("m:high/1"), "the NIF library of module m"));
        assert!(found.file.contains("libc"), "{}", found.file);
        let function = |frames: &[usize], faulted| culprit(frames, faulted).unwrap().function;
        assert_eq!(function(&[here, low + 1, here], false).as_deref(), Some("m:low/1"));
        // The first instruction of a function may fault; a function that is called as the last thing of another returns to the next one.
        assert_eq!(function(&[high], true).as_deref(), Some("m:high/1"));
        assert_eq!(function(&[high], false).as_deref(), Some("m:low/1"));
        assert_eq!(function(&[low + 1, high, here], true).as_deref(), Some("m:low/1"));
        assert_eq!(culprit(&[here], true), None);
        unloaded(low, "the NIF library of module m");
        assert_eq!(culprit(&[low + 1], true), None);
    }
}
