//! An epoll instance, with waits that end to the microsecond.

use std::io::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

pub struct Readiness(OwnedFd);

/// Most connections that one wait reports.
const MAX_EVENTS: usize = 256;

impl Readiness {
    pub fn new() -> Result<Readiness> {
        // SAFETY: a plain system call, which uses no memory of ours.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(Error::last_os_error());
        }
        // By default a wait may end 50 microseconds late, which would count as latency of the server.
        // SAFETY: PR_SET_TIMERSLACK takes a number and uses no memory of ours.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
        // SAFETY: `fd` was just opened, and no other value owns it.
        Ok(Readiness(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Reports the descriptor as `number` each time that something arrives, or that it takes bytes again.
    pub fn add(&self, fd: RawFd, number: usize) -> Result<()> {
        let mut event =
            libc::epoll_event { events: (libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLET | libc::EPOLLRDHUP) as u32, u64: number as u64 };
        // SAFETY: `event` is valid during the call.
        let added = unsafe { libc::epoll_ctl(self.0.as_raw_fd(), libc::EPOLL_CTL_ADD, fd, &mut event) };
        if added < 0 { Err(Error::last_os_error()) } else { Ok(()) }
    }

    /// The numbers of descriptors that are ready, after at most `limit`.
    pub fn wait(&self, limit: Duration, ready: &mut Vec<usize>) -> Result<()> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; MAX_EVENTS];
        let time = libc::timespec { tv_sec: limit.as_secs() as libc::time_t, tv_nsec: limit.subsec_nanos().into() };
        // SAFETY: the buffer has room for MAX_EVENTS events, and `time` is valid during the call; no signal mask is given.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.0.as_raw_fd(),
                events.as_mut_ptr(),
                MAX_EVENTS as libc::c_int,
                &raw const time,
                std::ptr::null::<libc::sigset_t>(),
                0usize,
            )
        };
        if count < 0 {
            let error = Error::last_os_error();
            return if error.kind() == std::io::ErrorKind::Interrupted { Ok(()) } else { Err(error) };
        }
        ready.extend(events[..count as usize].iter().map(|event| event.u64 as usize));
        Ok(())
    }
}
