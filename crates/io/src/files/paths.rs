//! The NIFs of prim_file on names: directories, links, removal.

use super::file::{blocking, ok_with, path, posix, posix_code, result, wait};
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Term, big};
use std::os::unix::ffi::OsStrExt;

heddle_runtime::natives! { TABLE:
    "prim_file" => {
        "get_cwd_nif"/0 => get_cwd,
        "set_cwd_nif"/1 => set_cwd,
        "get_device_cwd_nif"/1 => get_device_cwd,
        "list_dir_nif"/1 => list_dir,
        "make_dir_nif"/1 => make_dir,
        "del_dir_nif"/1 => del_dir,
        "del_file_nif"/1 => del_file,
        "rename_nif"/2 => rename,
        "read_link_nif"/1 => read_link,
        "make_hard_link_nif"/2 => make_hard_link,
        "make_soft_link_nif"/2 => make_soft_link,
        "altname_nif"/1 => altname,
        "set_permissions_nif"/2 => set_permissions,
        "set_owner_nif"/3 => set_owner,
        "set_time_nif"/4 => set_time,
    }
}

fn get_cwd(p: &mut Process, _: &[Term]) -> NativeResult {
    match std::env::current_dir() {
        Ok(dir) => {
            let binary = p.heap.binary(dir.as_os_str().as_bytes());
            Ok(ok_with(p, binary))
        }
        Err(e) => Ok(posix(p, &e)),
    }
}

fn set_cwd(p: &mut Process, a: &[Term]) -> NativeResult {
    let path = path(p, a[0])?;
    let r = std::env::set_current_dir(path);
    result(p, r)
}

fn get_device_cwd(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(posix_code(p, libc::ENOTSUP))
}

fn altname(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(posix_code(p, libc::ENOTSUP))
}

fn list_dir(p: &mut Process, a: &[Term]) -> NativeResult {
    let path = path(p, a[0])?;
    blocking()?;
    let found = wait(p, || std::fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect::<std::io::Result<Vec<_>>>());
    let names = match found {
        Ok(names) => names,
        Err(e) => return Ok(posix(p, &e)),
    };
    let names: Vec<Term> = names.iter().rev().map(|name| p.heap.binary(name.as_bytes())).collect();
    let list = p.heap.list(&names);
    Ok(ok_with(p, list))
}

fn make_dir(p: &mut Process, a: &[Term]) -> NativeResult {
    let path = path(p, a[0])?;
    blocking()?;
    let r = wait(p, || std::fs::create_dir(path));
    result(p, r)
}

fn del_dir(p: &mut Process, a: &[Term]) -> NativeResult {
    let path = path(p, a[0])?;
    blocking()?;
    match wait(p, || std::fs::remove_dir(&path)) {
        Err(e) if e.raw_os_error() == Some(libc::ENOTEMPTY) && is_current(&path) => Ok(posix_code(p, libc::EINVAL)),
        // POSIX allows either; programs expect eexist.
        Err(e) if e.raw_os_error() == Some(libc::ENOTEMPTY) => Ok(posix_code(p, libc::EEXIST)),
        r => result(p, r),
    }
}

/// True if the path names the current folder.
fn is_current(path: &std::path::Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |path: &std::path::Path| std::fs::metadata(path).ok().map(|m| (m.dev(), m.ino()));
    place(path).is_some_and(|found| Some(found) == place(std::path::Path::new(".")))
}

fn del_file(p: &mut Process, a: &[Term]) -> NativeResult {
    let path = path(p, a[0])?;
    blocking()?;
    match wait(p, || std::fs::remove_file(&path)) {
        // Linux reports eisdir for directories, and stock eperm.
        Err(e) if e.raw_os_error() == Some(libc::EISDIR) => Ok(posix_code(p, libc::EPERM)),
        r => result(p, r),
    }
}

fn rename(p: &mut Process, a: &[Term]) -> NativeResult {
    let (from, to) = (path(p, a[0])?, path(p, a[1])?);
    blocking()?;
    match wait(p, || std::fs::rename(&from, to)) {
        // Systems report different errors for the root.
        Err(_) if from.as_os_str() == "/" => Ok(posix_code(p, libc::EINVAL)),
        Err(e) if e.raw_os_error() == Some(libc::ENOTEMPTY) => Ok(posix_code(p, libc::EEXIST)),
        r => result(p, r),
    }
}

fn read_link(p: &mut Process, a: &[Term]) -> NativeResult {
    let path = path(p, a[0])?;
    blocking()?;
    match wait(p, || std::fs::read_link(path)) {
        Ok(target) => {
            let binary = p.heap.binary(target.as_os_str().as_bytes());
            Ok(ok_with(p, binary))
        }
        Err(e) => Ok(posix(p, &e)),
    }
}

fn make_hard_link(p: &mut Process, a: &[Term]) -> NativeResult {
    let (existing, new) = (path(p, a[0])?, path(p, a[1])?);
    blocking()?;
    let r = wait(p, || std::fs::hard_link(existing, new));
    result(p, r)
}

fn make_soft_link(p: &mut Process, a: &[Term]) -> NativeResult {
    let (existing, new) = (path(p, a[0])?, path(p, a[1])?);
    blocking()?;
    let r = wait(p, || std::os::unix::fs::symlink(existing, new));
    result(p, r)
}

fn set_permissions(p: &mut Process, a: &[Term]) -> NativeResult {
    use std::os::unix::fs::PermissionsExt;
    let path = path(p, a[0])?;
    let Some(mode) = args::count(a[1]) else { return Err(p.badarg()) };
    blocking()?;
    let r = wait(p, || std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode as u32 & 0o7777)));
    result(p, r)
}

fn set_owner(p: &mut Process, a: &[Term]) -> NativeResult {
    let path = path(p, a[0])?;
    let (Some(uid), Some(gid)) = (a[1].as_small(), a[2].as_small()) else { return Err(p.badarg()) };
    blocking()?;
    let id = |n: i64| u32::try_from(n).ok();
    let r = wait(p, || std::os::unix::fs::chown(path, id(uid), id(gid)));
    result(p, r)
}

fn set_time(p: &mut Process, a: &[Term]) -> NativeResult {
    let path = path(p, a[0])?;
    let (Some(atime), Some(mtime)) = (big::to_i64(a[1]), big::to_i64(a[2])) else { return Err(p.badarg()) };
    blocking()?;
    let Ok(name) = std::ffi::CString::new(path.as_os_str().as_bytes()) else { return Err(p.badarg()) };
    let times = [libc::timespec { tv_sec: atime, tv_nsec: 0 }, libc::timespec { tv_sec: mtime, tv_nsec: 0 }];
    // SAFETY: both pointers are valid for the call.
    let set = || unsafe { libc::utimensat(libc::AT_FDCWD, name.as_ptr(), times.as_ptr(), 0) };
    let r = wait(p, || if set() == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) });
    result(p, r)
}
