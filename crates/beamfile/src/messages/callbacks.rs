//! Replies that callbacks of behaviours return, to be sent by the behaviour's module.

use super::attributes;
use crate::beam::BeamFile;

/// A tuple that a behaviour takes apart, and which of its elements it sends.
struct Reply {
    behaviours: &'static [&'static str],
    tag: &'static str,
    size: usize,
    /// From 0.
    element: usize,
    /// The callback that returns it, where the tag alone says too little.
    only_in: Option<(&'static str, u32)>,
}

/// Behaviours whose `handle_call` returns what that of gen_server does.
const SERVERS: &[&str] = &["gen_server", "wx_object", "ssh_client_channel", "ssh_server_channel"];

/// From OTP's reference manual. A reply may be built in any function of the module, so the tag has to do.
const REPLIES: &[Reply] = &[
    Reply { behaviours: SERVERS, tag: "reply", size: 3, element: 1, only_in: None },
    Reply { behaviours: SERVERS, tag: "reply", size: 4, element: 1, only_in: None },
    Reply { behaviours: SERVERS, tag: "stop", size: 4, element: 2, only_in: None },
    // An action among those that a callback returns.
    Reply { behaviours: &["gen_statem"], tag: "reply", size: 3, element: 2, only_in: None },
    Reply { behaviours: &["gen_fsm"], tag: "reply", size: 4, element: 1, only_in: None },
    Reply { behaviours: &["gen_fsm"], tag: "reply", size: 5, element: 1, only_in: None },
    Reply { behaviours: &["gen_fsm"], tag: "stop", size: 4, element: 2, only_in: None },
    Reply { behaviours: &["gen_event"], tag: "ok", size: 3, element: 1, only_in: Some(("handle_call", 2)) },
    Reply { behaviours: &["gen_event"], tag: "ok", size: 4, element: 1, only_in: Some(("handle_call", 2)) },
    Reply { behaviours: &["gen_event"], tag: "remove_handler", size: 2, element: 1, only_in: Some(("handle_call", 2)) },
    Reply { behaviours: &["gen_event"], tag: "swap_handler", size: 6, element: 1, only_in: Some(("handle_call", 2)) },
];

/// The same in numbers of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    pub tag: u32,
    pub size: usize,
    pub element: usize,
    /// Index of the only function where it counts.
    pub only_in: Option<u32>,
}

/// What tuples to look for in this module.
pub(super) fn patterns(beam: &BeamFile) -> Vec<Pattern> {
    let mut patterns = Vec::new();
    attributes::behaviours(&beam.attributes, |behaviour| {
        for reply in REPLIES.iter().filter(|reply| reply.behaviours.iter().any(|name| name.as_bytes() == behaviour)) {
            patterns.extend(pattern(beam, reply));
        }
    });
    patterns
}

fn pattern(beam: &BeamFile, reply: &Reply) -> Option<Pattern> {
    let tag = beam.atoms.iter().position(|atom| atom == reply.tag)? as u32 + 1;
    let only_in = match reply.only_in {
        None => None,
        Some((name, arity)) => {
            let is_it = |function: &crate::Function| function.arity == arity && beam.atoms.get(function.name) == Some(name);
            Some(beam.code.functions.iter().position(is_it)? as u32)
        }
    };
    Some(Pattern { tag, size: reply.size, element: reply.element, only_in })
}
