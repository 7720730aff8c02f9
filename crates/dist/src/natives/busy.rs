//! Where a process waits that has sent a signal over a connection that has too much to send.

use crate::sending;
use heddle_runtime::process::{FLAG_AT_PORT, FLAG_HAS_RESULT, NativeResult, Process};
use heddle_term::Term;

heddle_runtime::natives! { TABLE: "erlang" => { "bif_return_trap"/2 => bif_return_trap } }

/// `(Result, Node)`
fn bif_return_trap(p: &mut Process, a: &[Term]) -> NativeResult {
    p.flags &= !(FLAG_AT_PORT | FLAG_HAS_RESULT);
    let node = a[1].as_atom().ok_or_else(|| p.badarg())?;
    match sending::is_busy(p, node) {
        true => {
            p.flags |= FLAG_HAS_RESULT;
            Err(sending::again(p, a, node))
        }
        false => Ok(a[0]),
    }
}
