//! Match specifications of calls and messages.

use super::actions::InSession;
use heddle_natives::spec::Program;
use heddle_natives::spec::eval::{self, Env, Mode};
use heddle_runtime::Package;
use heddle_runtime::process::Process;
use heddle_runtime::trace::spec::Verdict;
use heddle_runtime::trace::{Session, Spec};
use heddle_term::{Heap, Term};
use std::sync::Arc;

/// Runs it in a heap of its own: the traced process must not notice.
pub fn run(p: &mut Process, spec: &Spec, session: &Arc<Session>, terms: &[Term]) -> Verdict {
    let Some(program) = spec.program.downcast_ref::<Program>() else { return Verdict::plain() };
    let own = std::mem::replace(&mut p.heap, Heap::new());
    let exception = p.exception;
    let list = p.heap.list(terms);
    let actions = InSession(session);
    let mut env = Env { actions: Some(&actions), ..Env::default() };
    let verdict = match eval::accept(&program.clauses, p, &mut env, list) {
        None => Verdict::default(),
        Some(clause) => {
            for expr in &clause.body {
                eval::eval(expr, p, &mut env, Mode::Body);
            }
            let told = env.message.and_then(heddle_natives::args::boolean);
            Verdict {
                matched: true,
                tell: told != Some(false),
                message: env.message.filter(|_| told.is_none()).map(Package::new),
                return_trace: env.flags.contains(&"return_trace"),
                exception_trace: env.flags.contains(&"exception_trace"),
            }
        }
    };
    let mut scratch = std::mem::replace(&mut p.heap, own);
    scratch.clear();
    p.exception = exception;
    verdict
}
