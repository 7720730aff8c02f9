//! `erts_debug:breakpoint/2`, with which the debugger takes the calls of the modules that it interprets.

use super::pattern::mfa;
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::trace::breakpoints;
use heddle_term::Term;

heddle_runtime::natives! { TABLE:
    "erts_debug" => { "breakpoint"/2 => breakpoint }
}

fn breakpoint(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some((module, function, arity)), Some(on)) = (mfa(a[0]), args::boolean(a[1])) else { return Err(p.badarg()) };
    let count = breakpoints::debug(&breakpoints::targets(module, function, arity, false), on);
    Ok(Term::small(count as i64))
}
