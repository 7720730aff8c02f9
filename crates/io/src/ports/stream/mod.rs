//! The driver of programs and descriptors: what it reads from one descriptor is sent to the owner, and what processes send is written to
//! another descriptor.

mod input;
mod output;

use super::driver::{After, Driver};
use super::poll::{self, Interest};
use super::port::Port;
use heddle_runtime::task::Context;
use input::Input;
use output::Output;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

pub struct Stream {
    input: Input,
    output: Output,
    /// The port closes as soon as the queue is empty.
    is_closing: bool,
    /// The port has no input. As in stock, the end of its program is not reported; the port ends when a write fails.
    is_output_only: bool,
}

impl Stream {
    pub fn new(input: Option<OwnedFd>, output: Option<OwnedFd>) -> Stream {
        Stream { is_output_only: input.is_none(), input: Input::new(input), output: Output::new(output), is_closing: false }
    }
}

impl Driver for Stream {
    fn start(&mut self, port: &Arc<Port>, _: &mut Context<'_>) -> After {
        self.await_input(port);
        After::Continue
    }

    fn command(&mut self, port: &Arc<Port>, _: Option<u64>, data: Vec<u8>, _: &mut Context<'_>) -> Option<After> {
        Some(self.put(port, data))
    }

    fn ready(&mut self, port: &Arc<Port>, interest: Interest, context: &mut Context<'_>) -> After {
        match interest {
            Interest::Read => self.readable(port, context),
            Interest::Write => self.writable(port),
            // It waits for no such event.
            Interest::Error => After::Continue,
        }
    }

    fn outstanding(&self) -> usize {
        self.output.bytes()
    }

    fn drain(&mut self, _: &Arc<Port>, _: &mut Context<'_>) {
        self.is_closing = true;
        if let Some(input) = self.input.take() {
            poll::forget(input.as_raw_fd());
        }
    }

    fn close(&mut self, _: &Port, _: bool) {
        for fd in [self.input.take(), self.output.take()].into_iter().flatten() {
            poll::forget(fd.as_raw_fd());
        }
    }
}
