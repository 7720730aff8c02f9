//! Open files: the NIFs of prim_file on handles. A handle belongs to the process that opened it and is closed with it.
//! Everything that may block runs on a dirty thread. A call that waits for the system there (`wait`) holds nothing of the process, so the
//! process handles signals meanwhile and can be ended.

use crate::files::outgoing::Outgoing;
use crate::files::reading;
use heddle_natives::args;
use heddle_runtime::locks::LockClass;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_runtime::{dirty, refs, sched};
use heddle_term::bits::BitsView;
use heddle_term::{Atom, Resource, Term, am, big};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::{Arc, Mutex};

heddle_runtime::natives! { TABLE:
    "prim_file" => {
        "open_nif"/2 => open,
        "close_nif"/1 => close,
        "delayed_close_nif"/1 => close,
        "read_nif"/2 => read,
        "write_nif"/2 => write,
        "pread_nif"/3 => pread,
        "pwrite_nif"/3 => pwrite,
        "seek_nif"/3 => seek,
        "sync_nif"/2 => sync,
        "truncate_nif"/1 => truncate,
        "allocate_nif"/3 => allocate,
        "advise_nif"/4 => advise,
        "get_handle_nif"/1 => get_handle,
        "file_desc_to_ref_nif"/1 => file_desc_to_ref,
        "ipread_s32bu_p32bu_nif"/3 => ipread,
        "read_file_nif"/1 => read_file,
    }
}

pub struct OpenFile {
    pub file: Mutex<Option<File>>,
    owner: u64,
}

impl Resource for OpenFile {
    fn type_name(&self) -> &'static str {
        "file"
    }
}

impl OpenFile {
    /// A descriptor of the same file, for its owner. An error is a number of the system.
    pub fn duplicate(&self, owner: u64) -> Result<OwnedFd, i32> {
        let file = LockClass::File.lock(&self.file);
        let Some(file) = file.as_ref().filter(|_| self.owner == owner) else { return Err(libc::EINVAL) };
        file.try_clone().map(OwnedFd::from).map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))
    }
}

/// Kept by the owner: closes the file when the owner ends.
struct Owned(std::sync::Weak<OpenFile>);

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(file) = self.0.upgrade() {
            drop(LockClass::File.lock(&file.file).take());
        }
    }
}

/// Moves the native to a dirty thread, unless it runs on one.
pub fn blocking() -> Result<(), Thrown> {
    if sched::on_dirty_thread() { Ok(()) } else { Err(Thrown::DirtyIo) }
}

/// Runs `f` on a dirty thread. It calls the system, which may take any time, so it must look at no term.
pub fn wait<R>(p: &mut Process, f: impl FnOnce() -> R) -> R {
    dirty::detached(p, f)
}

pub fn ok() -> Term {
    am::OK.into()
}

pub fn ok_with(p: &mut Process, value: Term) -> Term {
    p.heap.tuple(&[am::OK.into(), value])
}

/// `{error, Posix}`
pub fn posix(p: &mut Process, error: &io::Error) -> Term {
    let name = crate::errno::name(error.raw_os_error().unwrap_or(libc::EIO));
    p.heap.tuple(&[am::ERROR.into(), Atom::new(name).into()])
}

pub fn posix_code(p: &mut Process, code: i32) -> Term {
    posix(p, &io::Error::from_raw_os_error(code))
}

pub fn result(p: &mut Process, r: io::Result<()>) -> NativeResult {
    Ok(match r {
        Ok(()) => ok(),
        Err(e) => posix(p, &e),
    })
}

/// The path that a NUL-terminated binary holds (the internal form of prim_file).
pub fn path(p: &mut Process, term: Term) -> Result<std::path::PathBuf, Thrown> {
    use std::os::unix::ffi::OsStringExt;
    match BitsView::of(term).filter(|b| b.is_binary()).map(|b| b.to_vec()) {
        Some(mut bytes) if bytes.last() == Some(&0) => {
            bytes.pop();
            if bytes.contains(&0) {
                return Err(p.badarg());
            }
            Ok(std::ffi::OsString::from_vec(bytes).into())
        }
        _ => Err(p.badarg()),
    }
}

fn open(p: &mut Process, a: &[Term]) -> NativeResult {
    let path = path(p, a[0])?;
    let Some(modes) = args::list(a[1]) else { return Err(p.badarg()) };
    let (mut read, mut write, mut append, mut exclusive, mut sync, mut directory, mut any_type) =
        (false, false, false, false, false, false, false);
    for mode in modes {
        match mode.as_atom().map(|m| m.name()) {
            Some("read") => read = true,
            Some("write") => write = true,
            Some("append") => (write, append) = (true, true),
            Some("exclusive") => (write, exclusive) = (true, true),
            Some("sync") => sync = true,
            Some("directory") => directory = true,
            Some("skip_type_check") => any_type = true,
            _ => {}
        }
    }
    blocking()?;
    if !write {
        read = true;
    }
    let mut options = File::options();
    options.read(read).write(write || append).mode(0o666);
    if append {
        options.append(true).create(true);
    }
    if exclusive {
        options.create_new(true);
    } else if write {
        options.create(true);
        if !read && !append {
            options.truncate(true);
        }
    }
    let mut flags = libc::O_CLOEXEC;
    if sync {
        flags |= libc::O_SYNC;
    }
    if directory {
        flags |= libc::O_DIRECTORY;
    }
    options.custom_flags(flags);
    let (file, meta) = match wait(p, || options.open(&path).map(|file| (file.metadata(), file))) {
        Ok((meta, file)) => (file, meta),
        Err(e) => return Ok(posix(p, &e)),
    };
    if !any_type && let Ok(meta) = meta {
        let kind = meta.file_type();
        if kind.is_dir() && !directory {
            return Ok(posix_code(p, libc::EISDIR));
        }
        if !kind.is_dir() && directory {
            return Ok(posix_code(p, libc::ENOTDIR));
        }
    }
    let reference = handle(p, file);
    Ok(ok_with(p, reference))
}

fn handle(p: &mut Process, file: File) -> Term {
    let open = Arc::new(OpenFile { file: Mutex::new(Some(file)), owner: p.pid() });
    // Forget handles that are closed and gone before the list grows without bound.
    let owned = &mut p.rare().owned;
    if owned.len() >= 32 && owned.len().is_power_of_two() {
        owned.retain(|o| o.downcast_ref::<Owned>().is_none_or(|o| o.0.strong_count() > 0));
    }
    owned.push(Box::new(Owned(Arc::downgrade(&open))));
    p.heap.magic_reference(refs::fresh().words(), open)
}

/// Runs `f` on the open file; `einval` when it is closed or another process' handle.
fn with_file(p: &mut Process, term: Term, f: impl FnOnce(&mut Process, &File) -> io::Result<Term>) -> NativeResult {
    let Some(open) = args::resource::<OpenFile>(term) else { return Err(p.badarg()) };
    if open.owner != p.pid() {
        return Ok(posix_code(p, libc::EINVAL));
    }
    blocking()?;
    let guard = LockClass::File.lock(&open.file);
    let Some(file) = guard.as_ref() else { return Ok(posix_code(p, libc::EINVAL)) };
    match f(p, file) {
        Ok(term) => Ok(term),
        Err(e) => Ok(posix(p, &e)),
    }
}

fn close(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(open) = args::resource::<OpenFile>(a[0]) else { return Err(p.badarg()) };
    blocking()?;
    let file = LockClass::File.lock(&open.file).take();
    match file {
        Some(file) => {
            wait(p, || drop(file));
            Ok(ok())
        }
        None => Ok(posix_code(p, libc::EINVAL)),
    }
}

fn size_arg(p: &mut Process, term: Term) -> Result<usize, Thrown> {
    args::count(term).ok_or_else(|| p.badarg())
}

fn offset_arg(p: &mut Process, term: Term) -> Result<u64, Thrown> {
    big::to_u64(term).filter(|o| *o <= i64::MAX as u64).ok_or_else(|| p.badarg())
}

fn read(p: &mut Process, a: &[Term]) -> NativeResult {
    let size = size_arg(p, a[1])?;
    with_file(p, a[0], |p, file| {
        let bytes = wait(p, || reading::read(file, size))?;
        Ok(data(p, bytes, size))
    })
}

fn data(p: &mut Process, bytes: Vec<u8>, asked: usize) -> Term {
    if bytes.is_empty() && asked > 0 {
        return Atom::new("eof").into();
    }
    let binary = reading::binary(p, bytes);
    ok_with(p, binary)
}

fn write(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(bytes) = Outgoing::of(a[1]) else { return Err(p.badarg()) };
    with_file(p, a[0], |p, file| {
        wait(p, || bytes.write(file))?;
        Ok(ok())
    })
}

fn pread(p: &mut Process, a: &[Term]) -> NativeResult {
    let (offset, size) = (offset_arg(p, a[1])?, size_arg(p, a[2])?);
    with_file(p, a[0], |p, file| {
        let bytes = wait(p, || reading::read_at(file, size, offset))?;
        // Unlike in `read`, a result of no bytes is `eof` even if no bytes were asked for: dets relies on that for empty slots.
        Ok(data(p, bytes, size.max(1)))
    })
}

fn pwrite(p: &mut Process, a: &[Term]) -> NativeResult {
    let offset = offset_arg(p, a[1])?;
    let Some(bytes) = Outgoing::of(a[2]) else { return Err(p.badarg()) };
    with_file(p, a[0], |p, file| {
        wait(p, || bytes.write_at(file, offset))?;
        Ok(ok())
    })
}

fn seek(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(offset) = big::to_i64(a[2]) else { return Err(p.badarg()) };
    let from = match a[1].as_atom().map(|m| m.name()) {
        Some("bof") if offset >= 0 => io::SeekFrom::Start(offset as u64),
        Some("bof") => return Ok(posix_code(p, libc::EINVAL)),
        Some("cur") => io::SeekFrom::Current(offset),
        Some("eof") => io::SeekFrom::End(offset),
        _ => return Err(p.badarg()),
    };
    with_file(p, a[0], |p, mut file| {
        let position = io::Seek::seek(&mut file, from)?;
        let position = p.heap.unsigned(position);
        Ok(ok_with(p, position))
    })
}

fn sync(p: &mut Process, a: &[Term]) -> NativeResult {
    let data_only = a[1].as_small() == Some(1);
    with_file(p, a[0], |p, file| {
        wait(p, || if data_only { file.sync_data() } else { file.sync_all() })?;
        Ok(ok())
    })
}

fn truncate(p: &mut Process, a: &[Term]) -> NativeResult {
    with_file(p, a[0], |p, mut file| {
        wait(p, || io::Seek::stream_position(&mut file).and_then(|position| file.set_len(position)))?;
        Ok(ok())
    })
}

fn allocate(p: &mut Process, a: &[Term]) -> NativeResult {
    let (offset, length) = (offset_arg(p, a[1])?, offset_arg(p, a[2])?);
    with_file(p, a[0], |p, file| {
        // SAFETY: a call on an open descriptor.
        let r = wait(p, || unsafe { libc::posix_fallocate(file.as_raw_fd(), offset as i64, length as i64) });
        if r == 0 { Ok(ok()) } else { Err(io::Error::from_raw_os_error(r)) }
    })
}

fn advise(p: &mut Process, a: &[Term]) -> NativeResult {
    let (offset, length) = (offset_arg(p, a[1])?, offset_arg(p, a[2])?);
    let advice = match a[3].as_atom().map(|m| m.name()) {
        Some("normal") => libc::POSIX_FADV_NORMAL,
        Some("sequential") => libc::POSIX_FADV_SEQUENTIAL,
        Some("random") => libc::POSIX_FADV_RANDOM,
        Some("no_reuse") => libc::POSIX_FADV_NOREUSE,
        Some("will_need") => libc::POSIX_FADV_WILLNEED,
        Some("dont_need") => libc::POSIX_FADV_DONTNEED,
        _ => return Ok(posix_code(p, libc::EINVAL)),
    };
    with_file(p, a[0], |p, file| {
        // SAFETY: a call on an open descriptor.
        let r = wait(p, || unsafe { libc::posix_fadvise(file.as_raw_fd(), offset as i64, length as i64, advice) });
        if r == 0 { Ok(ok()) } else { Err(io::Error::from_raw_os_error(r)) }
    })
}

fn get_handle(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(open) = args::resource::<OpenFile>(a[0]) else { return Err(p.badarg()) };
    let guard = LockClass::File.lock(&open.file);
    match guard.as_ref() {
        Some(file) => Ok(p.heap.binary(&file.as_raw_fd().to_ne_bytes())),
        None => Ok(posix_code(p, libc::EINVAL)),
    }
}

fn file_desc_to_ref(p: &mut Process, a: &[Term]) -> NativeResult {
    use std::os::fd::FromRawFd;
    let Some(fd) = args::count(a[0]).and_then(|n| i32::try_from(n).ok()) else { return Err(p.badarg()) };
    // SAFETY: fcntl only looks at the number.
    if unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
        return Ok(posix_code(p, libc::EBADF));
    }
    // SAFETY: the descriptor is open; the caller hands it over.
    let reference = handle(p, unsafe { File::from_raw_fd(fd) });
    Ok(ok_with(p, reference))
}

/// Reads a size and a pointer (both 32 bit, big endian) at Offset, then that many bytes there, if not more than MaxSize.
fn ipread(p: &mut Process, a: &[Term]) -> NativeResult {
    let (offset, max) = (offset_arg(p, a[1])?, size_arg(p, a[2])?);
    with_file(p, a[0], |p, file| {
        let eof: Term = Atom::new("eof").into();
        let mut head = [0u8; 8];
        if wait(p, || file.read_exact_at(&mut head, offset)).is_err() {
            return Ok(eof);
        }
        let size = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
        let pointer = u32::from_be_bytes([head[4], head[5], head[6], head[7]]);
        if size as usize > max {
            return Ok(eof);
        }
        let mut body = vec![0u8; size as usize];
        let n = wait(p, || file.read_at(&mut body, pointer as u64))?;
        let content = if n == 0 { eof } else { p.heap.binary(&body[..n]) };
        let triple = p.heap.tuple(&[Term::small(size as i64), Term::small(pointer as i64), content]);
        Ok(ok_with(p, triple))
    })
}

fn read_file(p: &mut Process, a: &[Term]) -> NativeResult {
    let path = path(p, a[0])?;
    blocking()?;
    match wait(p, || std::fs::read(&path)) {
        Ok(bytes) => {
            let binary = reading::binary(p, bytes);
            Ok(ok_with(p, binary))
        }
        Err(e) => Ok(posix(p, &e)),
    }
}
