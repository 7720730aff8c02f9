//! The terminal that the command has, seen from the other side.

use std::ffi::{CStr, OsStr};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

pub struct Terminal {
    /// What the program writes can be read here, and what is written here it reads. Does not block.
    pub master: File,
    pub child: Child,
    /// Readable when the child has ended. None where the system has no such descriptors.
    pub end: Option<OwnedFd>,
}

impl Terminal {
    /// Starts the command, which has the terminal as its controlling terminal.
    pub fn start(command: &OsStr) -> Result<Terminal, String> {
        let (master, slave) = open_pair().map_err(|error| format!("no terminal can be opened: {error}"))?;
        if std::env::var_os("RUN_ERL_DISABLE_FLOWCNTRL").is_some() {
            pass_flow_control_on(&slave).map_err(|error| format!("flow control cannot be switched off: {error}"))?;
        }
        let copy = || slave.try_clone().map_err(|error| format!("no descriptor is left: {error}"));
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(command).stdin(copy()?).stdout(copy()?).stderr(copy()?);
        // SAFETY: only system calls that are allowed between fork and exec; descriptor 0 is the terminal by then.
        unsafe {
            shell.pre_exec(|| match libc::setsid() != -1 && libc::ioctl(0, libc::TIOCSCTTY, 0) != -1 {
                true => Ok(()),
                false => Err(io::Error::last_os_error()),
            });
        }
        let child = shell.spawn().map_err(|error| format!("/bin/sh does not start: {error}"))?;
        // SAFETY: a system call; a descriptor that it returns belongs to this process.
        let end = unsafe {
            let fd = libc::syscall(libc::SYS_pidfd_open, child.id() as libc::pid_t, 0);
            (fd >= 0).then(|| OwnedFd::from_raw_fd(fd as i32))
        };
        Ok(Terminal { master, child, end })
    }

    pub fn set_size(&self, columns: u16, rows: u16) {
        let size = libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: the request takes such a structure.
        unsafe { libc::ioctl(self.master.as_raw_fd(), libc::TIOCSWINSZ, &size) };
    }

    /// As the terminal's interrupt key would, also where the program has switched that off.
    pub fn interrupt(&self) {
        // SAFETY: a system call. The child was not waited for, so the number is still its own.
        unsafe { libc::kill(self.child.id() as libc::pid_t, libc::SIGINT) };
    }
}

fn open_pair() -> io::Result<(File, File)> {
    let mut name = [0u8; 128];
    // SAFETY: system calls with valid destinations of the sizes given; the descriptor belongs to this process.
    let master = unsafe {
        let fd = libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC | libc::O_NONBLOCK);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        let master = File::from_raw_fd(fd);
        if libc::grantpt(fd) != 0 || libc::unlockpt(fd) != 0 || libc::ptsname_r(fd, name.as_mut_ptr().cast(), name.len()) != 0 {
            return Err(io::Error::last_os_error());
        }
        master
    };
    let name = CStr::from_bytes_until_nul(&name).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    let slave = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open(OsStr::from_bytes(name.to_bytes()))?;
    Ok((master, slave))
}

fn pass_flow_control_on(slave: &File) -> io::Result<()> {
    // SAFETY: all-zero is a valid value, and a destination of the right type.
    let done = unsafe {
        let mut mode: libc::termios = std::mem::zeroed();
        libc::tcgetattr(slave.as_raw_fd(), &mut mode) == 0 && {
            mode.c_iflag &= !(libc::IXON | libc::IXOFF);
            libc::tcsetattr(slave.as_raw_fd(), libc::TCSANOW, &mode) == 0
        }
    };
    if done { Ok(()) } else { Err(io::Error::last_os_error()) }
}
