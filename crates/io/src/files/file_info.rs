//! The record `#file_info{}` of a file.

use super::file::{OpenFile, blocking, path, posix, posix_code, wait};
use heddle_natives::args;
use heddle_runtime::locks::LockClass;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Atom, Term};
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

heddle_runtime::natives! { TABLE:
    "prim_file" => {
        "read_info_nif"/2 => read_info,
        "read_handle_info_nif"/1 => read_handle_info,
    }
}

fn read_info(p: &mut Process, a: &[Term]) -> NativeResult {
    let path = path(p, a[0])?;
    let follow = a[1].as_small() == Some(1);
    blocking()?;
    let found = wait(p, || {
        let meta = if follow { std::fs::metadata(&path) } else { std::fs::symlink_metadata(&path) };
        meta.map(|meta| (access(&path), meta))
    });
    match found {
        Ok((access, meta)) => Ok(info(p, &meta, access)),
        Err(e) => Ok(posix(p, &e)),
    }
}

fn read_handle_info(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(open) = args::resource::<OpenFile>(a[0]) else { return Err(p.badarg()) };
    blocking()?;
    let guard = LockClass::File.lock(&open.file);
    let Some(file) = guard.as_ref() else { return Ok(posix_code(p, libc::EINVAL)) };
    match wait(p, || file.metadata()) {
        Ok(meta) => {
            // For an open file only the owner's permission bits are looked at.
            let access = match (meta.mode() & 0o400 != 0, meta.mode() & 0o200 != 0) {
                (true, true) => "read_write",
                (true, false) => "read",
                (false, true) => "write",
                _ => "none",
            };
            Ok(info(p, &meta, access))
        }
        Err(e) => Ok(posix(p, &e)),
    }
}

fn access(path: &std::path::Path) -> &'static str {
    let Ok(name) = std::ffi::CString::new(path.as_os_str().as_bytes()) else { return "none" };
    // SAFETY: a NUL-terminated string.
    let can = |mode| unsafe { libc::access(name.as_ptr(), mode) } == 0;
    match (can(libc::R_OK), can(libc::W_OK)) {
        (true, true) => "read_write",
        (true, false) => "read",
        (false, true) => "write",
        _ => "none",
    }
}

fn info(p: &mut Process, m: &Metadata, access: &str) -> Term {
    let t = m.file_type();
    let kind = if t.is_file() {
        "regular"
    } else if t.is_dir() {
        "directory"
    } else if t.is_symlink() {
        "symlink"
    } else if t.is_char_device() || t.is_block_device() {
        "device"
    } else {
        "other"
    };
    let size = p.heap.unsigned(m.size());
    let (dev, rdev, ino) = (p.heap.unsigned(m.dev()), p.heap.unsigned(m.rdev()), p.heap.unsigned(m.ino()));
    let tuple = [
        Atom::new("file_info").into(),
        size,
        Atom::new(kind).into(),
        Atom::new(access).into(),
        Term::small(m.atime()),
        Term::small(m.mtime()),
        Term::small(m.ctime()),
        Term::small(m.mode() as i64),
        Term::small(m.nlink() as i64),
        dev,
        rdev,
        ino,
        Term::small(m.uid() as i64),
        Term::small(m.gid() as i64),
    ];
    p.heap.tuple(&tuple)
}
