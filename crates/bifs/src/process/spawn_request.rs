//! `spawn_request`: a spawn whose answer is a message.

use super::spawn::{create, mfa_of, parse_options};
use heddle_natives::args;
use heddle_runtime::links::AliasMode;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::send::node_name;
use heddle_runtime::signal::Signal;
use heddle_runtime::trace::seq;
use heddle_runtime::{Package, refs};
use heddle_term::{Atom, Term, am};

heddle_runtime::natives! { TABLE:
    "erts_internal" => {
        "spawn_request"/4 => spawn_request,
    }
}

/// The answer to a `spawn_request`, and when there is one.
pub struct Reply {
    pub tag: Term,
    pub success: bool,
    pub error: bool,
}

impl Default for Reply {
    fn default() -> Reply {
        Reply { tag: am::SPAWN_REPLY.into(), success: true, error: true }
    }
}

/// True if success is answered, and true if failure is.
pub fn reply_when(value: Term) -> Option<(bool, bool)> {
    match value.as_atom()?.name() {
        "yes" => Some((true, true)),
        "no" => Some((false, false)),
        "error_only" => Some((false, true)),
        "success_only" => Some((true, false)),
        _ => None,
    }
}

/// The options on the reply. The last of each counts. They are read even if the list has wrong options, since they say how to report that.
pub fn reply_of(options: &[Term]) -> Reply {
    let mut reply = Reply::default();
    for &item in options {
        match args::option(item) {
            Some((name, value)) if name.name() == "reply_tag" => reply.tag = value,
            Some((name, value)) if name.name() == "reply" => {
                if let Some((success, error)) = reply_when(value) {
                    (reply.success, reply.error) = (success, error);
                }
            }
            _ => {}
        }
    }
    reply
}

/// Reports a failed request in a message. Returns the reference of the request.
pub fn refuse(p: &mut Process, reply: &Reply, why: &str) -> Term {
    let (reference, _) = heddle_runtime::send::fresh_reference(&mut p.heap);
    if reply.error {
        let message = p.heap.tuple(&[reply.tag, reference, am::ERROR.into(), Atom::new(why).into()]);
        p.shared().state.push_to_itself(Signal::message_of(node_name().into(), Package::new(message)));
    }
    reference
}

/// erts_internal:spawn_request(M, F, Args, Options): the reply comes as a message; the answer is the reference.
fn spawn_request(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some((mfa, arguments)) = mfa_of(a[0], a[1], a[2]) else { return Ok(am::BADARG.into()) };
    let Some(request) = parse_options(a[3], true) else {
        // A term that is no list is an error of the call; an unknown option is reported in the reply.
        return Ok(match args::list(a[3]) {
            Some(options) => refuse(p, &reply_of(&options), "badopt"),
            None => Atom::new("badopt").into(),
        });
    };
    let id = refs::fresh();
    let alias = request.monitor.as_ref().and_then(|m| m.alias).unwrap_or(AliasMode::None);
    let outcome = create(p, mfa, arguments, &request, Some(a[3]), Some(id));
    let reference = super::relations::reference_term(p, id, alias);
    let wanted = if outcome.is_some() { request.reply.success } else { request.reply.error };
    if wanted {
        let (kind, result) = match &outcome {
            Some(created) => (am::OK.into(), created.pid),
            None => (am::ERROR.into(), Term::atom(am::SYSTEM_LIMIT)),
        };
        let message = p.heap.tuple(&[request.reply.tag, reference, kind, result]);
        let data = Package::new(message);
        let signal = match outcome {
            Some(created) => {
                if let Some(token) = &created.token {
                    seq::tell(token, seq::SEND, p.pid_term(), message, Some(p));
                }
                Signal::message_with(created.pid, data, created.token)
            }
            None => Signal::message_of(node_name().into(), data),
        };
        p.shared().state.push_to_itself(signal);
    }
    Ok(reference)
}
