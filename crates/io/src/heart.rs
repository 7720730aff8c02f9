//! The port of `heart`, the program that starts the VM again: it stays open while the VM halts, and is told of a crash.

use crate::ports::port::Port;
use crate::ports::port_task::PortTask;
use crate::ports::{self, flush};
use heddle_runtime::process::names;
use heddle_runtime::task::Context;
use heddle_runtime::{proctab, task};
use std::sync::Arc;

fn port() -> Option<Arc<Port>> {
    names::whereis(flush::heart_name()).filter(|id| id.is_port()).and_then(ports::find)
}

/// The first byte of the message that the VM crashes: the program then waits while the VM writes a crash dump.
pub const CRASHING: u8 = 8;

/// Tells the program, if there is one, that the VM crashes. False if there is none. The other schedulers have stopped. A port that another
/// thread is busy with is not told, and the program starts the VM again as soon as the port has closed.
pub fn tell_crash() -> bool {
    let Some(port) = port() else { return false };
    if let Some(mut entered) = proctab::lookup(port.identity()).and_then(task::try_now)
        && let Some(task) = entered.process()
    {
        task::call(task, |task: &mut PortTask, context: &mut Context<'_>| task.command(None, vec![CRASHING].into(), context).1);
    }
    true
}
