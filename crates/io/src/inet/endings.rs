//! How connections end: the other side sends no more, or the connection has failed.

use super::options::Active;
use super::reason::Reason;
use super::tcp::Tcp;
use crate::ports::port::Port;
use heddle_term::{Atom, am};
use std::sync::Arc;

impl Tcp {
    /// Called when the other side sends no more.
    pub(super) fn ended(&mut self, port: &Arc<Port>) {
        self.input.clear();
        self.ended_for_send = !self.output.is_busy();
        if self.output.is_busy() {
            self.output.refuse_senders(port, "closed");
        }
        if self.socket.options.active != Active::No || self.channel.is_some() {
            return self.tell_end(port);
        }
        if self.socket.options.exit_on_close {
            drop(self.abandon());
            self.output.refuse_senders(port, "closed");
        }
        if let Some(caller) = self.input.forget() {
            caller.fail(port, "closed");
        }
    }

    /// Sends `{tcp_closed, Port}`. The port closes too, unless the option `exit_on_close` is false.
    pub(super) fn tell_end(&mut self, port: &Arc<Port>) {
        if !std::mem::replace(&mut self.end_told, true) {
            self.tell_owner(port, |heap| heap.tuple(&[Atom::new("tcp_closed").into(), port.term()]));
            self.socket.options.active = Active::No;
        }
        if self.socket.options.exit_on_close {
            self.socket.ends_port = Some(am::NORMAL);
        }
    }

    pub(super) fn tell_error(&self, port: &Arc<Port>, reason: Reason) {
        self.tell_owner(port, |heap| heap.tuple(&[Atom::new("tcp_error").into(), port.term(), Atom::new(reason).into()]));
    }

    /// Called when the connection has failed.
    pub(super) fn fail(&mut self, port: &Arc<Port>, reason: Reason) {
        self.output.refuse_senders(port, reason);
        if self.socket.options.active != Active::No || self.channel.is_some() {
            self.tell_error(port, reason);
            return self.tell_end(port);
        }
        let waiting = self.input.forget();
        if self.socket.options.exit_on_close {
            drop(self.abandon());
        }
        match waiting {
            Some(caller) => {
                caller.fail(port, reason);
            }
            None => self.ended_for_receive = Some(if reason == "econnreset" && self.socket.options.show_reset { reason } else { "closed" }),
        }
    }
}
