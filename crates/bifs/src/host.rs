//! What the runtime asks of the natives: see [`Host`].

use crate::system::halt;
use heddle_io::ports::{hooks, poll};
use heddle_runtime::process::Process;
use heddle_runtime::process::host::{self, Handler, Host, Interest};
use heddle_term::Term;
use std::io;
use std::os::fd::RawFd;

struct Natives;

impl Host for Natives {
    fn send_to_port(&self, p: &mut Process, port: Term, message: Term, wait: bool) -> bool {
        hooks::send(p, port, message, wait)
    }
    fn output_to_port(&self, port: Term, bytes: Vec<u8>) {
        hooks::output(port, bytes);
    }
    fn port_linked(&self, port: Term, from: Term, on: bool) {
        hooks::linked(port, from, on);
    }
    fn watch_descriptor(&self, fd: RawFd, interest: Interest, handler: Handler) -> io::Result<()> {
        poll::once(fd, interest, handler)
    }
    fn forget_descriptor(&self, fd: RawFd) {
        poll::forget(fd);
    }
    fn crash(&self, slogan: &str) -> ! {
        halt::crash(slogan)
    }
}

pub fn install() {
    host::install(&Natives);
}
