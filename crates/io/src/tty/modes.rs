//! Terminal modes: those at the start, those of the shell, and the return to the first when the VM stops.

use heddle_abi::settings::{Break, SETTINGS};
use std::sync::Mutex;

/// Modes of standard input before this process changed them.
static INITIAL: Mutex<Option<libc::termios>> = Mutex::new(None);
static CHANGED: Mutex<bool> = Mutex::new(false);

/// What `tty_init` asks for.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// Line by line, edited by the terminal driver.
    pub canonical: bool,
    pub echo: bool,
    /// Keys like Ctrl-C send signals.
    pub signals: bool,
}

fn get(fd: i32) -> Option<libc::termios> {
    // SAFETY: all zero is a termios; it is filled by the call.
    unsafe {
        let mut modes: libc::termios = std::mem::zeroed();
        (libc::tcgetattr(fd, &mut modes) == 0).then_some(modes)
    }
}

/// Sets the modes. `when`: at once, or after the output that is being written.
fn put(fd: i32, modes: &libc::termios, when: libc::c_int) -> bool {
    // SIGTTOU is blocked: it would stop a background job that changes modes.
    // SAFETY: plain system calls on live data; the signal mask of this thread is put back.
    unsafe {
        let mut block: libc::sigset_t = std::mem::zeroed();
        let mut old: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut block);
        libc::sigaddset(&mut block, libc::SIGTTOU);
        libc::pthread_sigmask(libc::SIG_BLOCK, &block, &mut old);
        let done = libc::tcsetattr(fd, when, modes) == 0;
        libc::pthread_sigmask(libc::SIG_SETMASK, &old, std::ptr::null_mut());
        done
    }
}

/// Modes for a shell; None when standard input is no terminal.
pub fn prepare(wanted: Wanted) -> Option<libc::termios> {
    let mut initial = INITIAL.lock().unwrap();
    if initial.is_none() {
        *initial = get(0);
    }
    let mut modes = (*initial)?;
    let set = |flags: &mut libc::tcflag_t, bits: libc::tcflag_t, on: bool| if on { *flags |= bits } else { *flags &= !bits };
    set(&mut modes.c_lflag, libc::ICANON, wanted.canonical);
    set(&mut modes.c_lflag, libc::ECHO, wanted.echo);
    if !wanted.signals {
        modes.c_lflag &= !libc::ISIG;
    }
    if !wanted.canonical {
        modes.c_iflag &= !libc::ICRNL;
        modes.c_oflag &= !libc::OPOST;
        modes.c_cc[libc::VMIN] = 1;
        modes.c_cc[libc::VTIME] = 0;
    }
    if SETTINGS.on_break.is(Break::Shell) {
        // Ctrl-C is a key for the shell.
        modes.c_cc[libc::VINTR] = libc::_POSIX_VDISABLE;
    }
    Some(modes)
}

pub fn apply(modes: &libc::termios) -> bool {
    let done = put(0, modes, libc::TCSADRAIN);
    *CHANGED.lock().unwrap() |= done;
    done
}

/// Sets the modes of the start again. Called at every end of the VM.
pub fn restore() {
    // A crash may happen while these are locked.
    if let (Ok(changed), Ok(initial)) = (CHANGED.try_lock(), INITIAL.try_lock())
        && *changed
        && let Some(modes) = initial.as_ref()
    {
        // At once: a terminal that is stopped writes no output, so waiting for the output could take forever.
        put(0, modes, libc::TCSANOW);
    }
}

/// The modes now, which the break menu restores when it is left.
pub fn current() -> Option<libc::termios> {
    get(0)
}

pub fn set_current(modes: &libc::termios) {
    put(0, modes, libc::TCSADRAIN);
}

/// Columns and rows of the terminal.
pub fn window_size() -> Option<(u16, u16)> {
    for fd in [1, 0] {
        // SAFETY: the call fills the structure.
        unsafe {
            let mut size: libc::winsize = std::mem::zeroed();
            if libc::ioctl(fd, libc::TIOCGWINSZ, &mut size) == 0 {
                return Some((size.ws_col, size.ws_row));
            }
        }
    }
    None
}
