//! Foresees which terms will be sent: judges each construction of a module `message` or local before any of it runs.
//!
//! A construction (of a tuple, a list cell, a map, a record, a binary or a fun with an environment) is judged a message if on some
//! way from it its value becomes a message, or a part of one, **before the process waits for a message again**. To be sent counts:
//!
//! * `!` and the functions that [`known`](self) lists: `erlang:send`, calls, casts and replies of OTP's behaviours, timers,
//!   signals of `exit/2`, arguments of new processes with the environments of their funs;
//! * replies that callbacks of behaviours return, if the module declares the behaviour: the second element of `{reply, R, State}`;
//! * the reason of `exit/1`, but only for what is built in the same run of instructions. Exits are mostly errors, and what
//!   was there before should not be placed for their sake.
//!
//! One way that sends is enough: values that are sent on some ways only are mostly built for that, and a wrong guess wastes
//! room in the message area where the other wrong guess costs a copy. The exception is the wait. What a process holds on to
//! while it waits is its state: a server that answers with a part of its state now and then would otherwise build all of it in the
//! message area, each change anew. Such a term is copied when it is sent. What is sent *and* kept is a message.
//!
//! It is a data flow against the direction of control (`walk`): registers whose values will be sent, from sends back to what
//! wrote them, through moves, through constructions into their parts, through calls of functions of the module by summaries of their
//! parameters (`flow`), and through functions of the libraries that are known to pass arguments on (`known`). A function is only
//! looked at if it sends, calls one that will send an argument, or makes a result that a caller sends; so modules without any of
//! that cost one pass over their instructions.
//!
//! It does not know, and says local then: what becomes of elements that are taken out of a tuple or a map; arguments of funs that
//! others made; registers from 32 on; what other modules do with arguments, but for the functions known; terms that other modules
//! build.

mod attributes;
mod callbacks;
mod flow;
mod graph;
mod known;
mod report;
mod sites;
mod steps;
mod walk;
mod want;

use crate::verify::Verified;

pub use report::{Construction, Reason, constructions};

/// Which instructions build messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// One bit per instruction of the module; empty if there is none.
    judged: Vec<u64>,
}

impl Messages {
    /// True if the instruction with this index builds what is going to be sent.
    #[inline]
    pub fn contains(&self, instr: usize) -> bool {
        self.judged.get(instr / 64).is_some_and(|word| word >> (instr % 64) & 1 != 0)
    }

    /// The first one from this instruction on.
    pub fn next(&self, instr: usize) -> Option<usize> {
        let first = instr / 64;
        let rest = self.judged.get(first)? & (u64::MAX << (instr % 64));
        let following = self.judged[first + 1..].iter().copied();
        let (at, word) = std::iter::once(rest).chain(following).enumerate().find(|&(_, word)| word != 0)?;
        Some((first + at) * 64 + word.trailing_zeros() as usize)
    }

    pub fn is_empty(&self) -> bool {
        self.judged.iter().all(|&word| word == 0)
    }

    /// How many constructions are judged so.
    pub fn count(&self) -> usize {
        self.judged.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// True if that is new.
    fn insert(&mut self, instr: usize) -> bool {
        let word = &mut self.judged[instr / 64];
        let before = *word;
        *word |= 1 << (instr % 64);
        *word != before
    }

    fn none_of(instrs: usize) -> Messages {
        Messages { judged: vec![0; instrs.div_ceil(64)] }
    }
}

/// What a construction makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Tuple,
    Cons,
    Map,
    Record,
    Binary,
    Fun,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Tuple => "tuple",
            Kind::Cons => "cons",
            Kind::Map => "map",
            Kind::Record => "record",
            Kind::Binary => "binary",
            Kind::Fun => "fun",
        }
    }
}

/// Judges the constructions of a module.
pub fn analyse(beam: &Verified) -> Messages {
    let Some(sites) = sites::Sites::find(beam) else {
        return Messages::default();
    };
    let mut messages = Messages::none_of(beam.code.instrs.len());
    for &exit in &sites.exits {
        steps::exit_reason(beam, exit as usize, |instr| {
            messages.insert(instr);
        });
    }
    if sites.senders.is_empty() {
        return messages;
    }
    let graph = graph::Graph::new(beam, &sites);
    let mut flow = flow::Flow::new(beam, &sites, &graph, messages);
    // Helpers mostly stand after the functions that call them.
    flow.run(sites.senders.iter().rev().map(|site| site.function));
    flow.messages
}

#[cfg(test)]
mod tests {
    use super::Messages;

    #[test]
    fn bits() {
        let mut messages = Messages::none_of(200);
        assert!(messages.is_empty() && messages.next(0).is_none());
        for instr in [0, 63, 64, 191] {
            assert!(messages.insert(instr));
            assert!(!messages.insert(instr));
        }
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(instr) = messages.next(from) {
            assert!(messages.contains(instr));
            found.push(instr);
            from = instr + 1;
        }
        assert_eq!(found, [0, 63, 64, 191]);
        assert_eq!((messages.count(), messages.contains(1), messages.next(1000)), (4, false, None));
    }
}
