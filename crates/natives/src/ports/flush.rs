//! Before the machine halts everything goes out that was sent to ports: who halts waits for all of them.

use super::body::{Body, Driver};
use super::port::Port;
use heddle_runtime::process::{Process, Thrown};
use heddle_runtime::task::Next;
use heddle_runtime::{Package, proctab, send, task};
use heddle_term::Term;
use std::sync::Arc;

/// Each port has one while something is queued there; whoever lets go of the last one tells who waits.
pub struct Flush {
    waiter: u64,
}

impl Drop for Flush {
    fn drop(&mut self) {
        let _guard = heddle_runtime::qsbr::guard();
        send::call_in(self.waiter, |waiter| {
            if let Some(waiter) = waiter {
                waiter.rare().answer = Some(Package::immediate(Term::bool(true)));
            }
        });
    }
}

/// Has all ports write what they were sent. None: nothing is left to wait for. Otherwise the native is called again, with a first
/// argument for `task::answer` and `keep` as the second.
pub fn wait(p: &mut Process, keep: Term) -> Option<Thrown> {
    p.rare().answer = None;
    let mut ports: Vec<Arc<Port>> = Vec::new();
    proctab::for_each_port(|port| ports.extend(super::find(port.pid_term())));
    let flush = Arc::new(Flush { waiter: p.pid() });
    for port in ports {
        let flush = flush.clone();
        let request = move |body: &mut Body, _: &mut task::Context<'_>| body.flush(flush);
        let entered = proctab::lookup(port.identity()).and_then(task::try_now);
        match entered {
            Some(mut entered) => {
                if let Some(task) = entered.process() {
                    task::call(task, request);
                }
            }
            None => port.request(request),
        }
    }
    if let Some(last) = Arc::into_inner(flush) {
        // Nobody else has it: they are done already. An answer would come to whatever the process asks next.
        std::mem::forget(last);
        return None;
    }
    p.again(&[Term::catch_marker(0), keep]);
    Some(Thrown::WaitAgain)
}

impl Body {
    fn flush(&mut self, flush: Arc<Flush>) -> Next {
        if let Some(Driver::TraceFile(file)) = &mut self.driver {
            let _ = file.flush();
        }
        self.flushing.push(flush);
        self.has_flushed();
        Next::Wait
    }

    /// Who waits for an empty queue need not wait any longer, if it is.
    pub(super) fn has_flushed(&mut self) {
        let socket_is_empty = match &self.driver {
            Some(Driver::Tcp(tcp)) => tcp.is_all_sent(),
            _ => true,
        };
        if self.output.is_empty() && socket_is_empty {
            self.flushing.clear();
        }
    }
}
