//! Match specifications of calls and messages.

use super::actions::InSession;
use heddle_natives::spec::Program;
use heddle_natives::spec::eval::{self, Env, Mode};
use heddle_runtime::Package;
use heddle_runtime::process::Process;
use heddle_runtime::trace::Session;
use heddle_runtime::trace::spec::{self, SpecVerdict};
use heddle_term::{Heap, Term};
use std::sync::Arc;

/// A compiled specification as the runtime sees it.
pub struct Compiled(pub Program);

impl spec::Program for Compiled {
    fn run(&self, p: &mut Process, session: &Arc<Session>, terms: &[Term]) -> SpecVerdict {
        run(p, &self.0, session, terms)
    }
    fn is_for_messages(&self, received: bool) -> bool {
        self.0.is_for_messages(received)
    }
}

/// Runs it in a heap of its own: the traced process must not notice.
fn run(p: &mut Process, program: &Program, session: &Arc<Session>, terms: &[Term]) -> SpecVerdict {
    let own = std::mem::replace(&mut p.heap, Heap::new());
    let exception = p.exception;
    let list = p.heap.list(terms);
    let actions = InSession(session);
    let mut env = Env { actions: Some(&actions), ..Env::default() };
    let verdict = match eval::accept(&program.clauses, p, &mut env, list) {
        None => SpecVerdict::default(),
        Some(clause) => {
            for expr in &clause.body {
                eval::eval(expr, p, &mut env, Mode::Body);
            }
            let told = env.message.and_then(heddle_natives::args::boolean);
            SpecVerdict {
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
