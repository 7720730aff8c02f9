//! Everything that is sent to a process.

use crate::package::Package;
use crate::process::Process;
use crate::small;
use crate::timer::Handle;
use crate::trace::seq::Token;
use heddle_memory::{RECENT_BYTES, own_row};
use heddle_sync::flagged_stack::NODE_ALIGN;
use heddle_term::{Atom, Term};
use std::mem::MaybeUninit;

/// A reference's identity: its words as stored in the term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct RefId(pub u64, pub u64);

impl RefId {
    /// Of a local reference term (plain, alias or magic).
    pub fn of(term: Term) -> Option<RefId> {
        use heddle_term::Kind;
        match term.kind()? {
            Kind::Ref => Some(RefId(term.word(0), term.word(1))),
            Kind::MagicRef => Some(RefId(term.word(1), term.word(2))),
            _ => None,
        }
    }
    pub fn words(self) -> [u32; 3] {
        [self.0 as u32, (self.0 >> 32) as u32, self.1 as u32]
    }
    pub fn from_words([low, middle, high]: [u32; 3]) -> RefId {
        RefId(low as u64 | (middle as u64) << 32, high as u64)
    }
}

pub type CallFn = Box<dyn FnOnce(Option<&mut Process>) + Send>;

/// A message on its way to an inbox.
pub(crate) struct Outgoing {
    pub(crate) signal: Box<Signal>,
    /// Its data may be in the young generation of the shared heap.
    pub(crate) refers: bool,
}

/// Aligned as the state word wants it (`inbox`).
#[repr(align(16))]
pub struct Signal {
    pub next: *mut Signal,
    pub body: Body,
}

/// A line of the processor's cache.
const _: () = assert!(size_of::<Signal>() == 64);

// SAFETY: a signal owns what it carries; `next` belongs to the queue it is on.
unsafe impl Send for Signal {}

pub enum Body {
    /// `from`: the sending process, or NONE.
    Message {
        from: Term,
        data: Package,
        /// The token of sequential tracing that goes with it.
        token: Option<Box<Token>>,
        /// Without a token it takes away the one that its receiver has: what processes send does so.
        clears_token: bool,
        /// With a shared heap: in the inbox, and so is what it refers to, since an earlier collection. Those below it are as well.
        is_old: bool,
        /// The one before it among the messages whose data is in the heap; the one behind it is kept with the data. See `inner_queue`.
        /// In an inbox: where an earlier one may be, for prefetching alone (`trail`). In a queue, while the data is not in the heap: where
        /// a later one may be, likewise.
        before: *mut Signal,
    },
    /// A message without a token whose data is in the signal itself, until it goes to the heap: see `small`.
    Small {
        from: Term,
        words: [u64; small::WORDS],
        /// How many of them there are.
        count: u8,
        /// The first two are a list's; else the first is an object's header.
        is_list: bool,
        /// In the inbox at an earlier collection of the shared heap, as those that it was sent before.
        is_old: bool,
        /// As a message's.
        before: *mut Signal,
    },
    /// A message to an alias: dropped unless the alias is active at the receiver.
    AliasMessage {
        /// Words of the reference.
        alias: [u32; 3],
        from: Term,
        data: Package,
        token: Option<Box<Token>>,
    },
    /// From a broken link or `exit/2`. `from`: pid or port term, immediate.
    Exit {
        from: Term,
        reason: Package,
        linked: bool,
        kill: bool,
        token: Option<Box<Token>>,
    },
    Link {
        from: Term,
    },
    Unlink {
        from: Term,
        id: u64,
    },
    UnlinkAck {
        from: Term,
        id: u64,
    },
    /// `watcher` wants to hear of our end. `name`: the registered name that it used, if any.
    Monitor {
        watcher: Term,
        reference: RefId,
        name: Option<Atom>,
    },
    Demonitor {
        reference: RefId,
    },
    /// A process or port that we monitor ended, for this reason.
    Down {
        reference: RefId,
        reason: Package,
    },
    /// This receive timer fired.
    Timeout(Handle),
    /// Resume a process that a native left waiting, or only make it look around.
    Nudge,
    /// Runs in the receiver, in order with its other signals; None if the receiver is gone.
    Call(CallFn),
}

impl Body {
    /// From a process.
    #[inline(always)]
    pub fn message(from: Term, data: Package, token: Option<Box<Token>>) -> Body {
        Body::Message { from, data, token, clears_token: true, is_old: false, before: std::ptr::null_mut() }
    }

    /// A message's term in place; NONE of what is no message.
    #[inline(always)]
    pub(crate) fn message_term(&self) -> Term {
        match self {
            Body::Message { data, .. } => data.term(),
            Body::Small { words, is_list, .. } => small::root(words.as_ptr(), *is_list),
            _ => Term::NONE,
        }
    }

    /// The term that goes with it, if one may lie in a heap.
    #[inline(always)]
    pub(crate) fn carried(&mut self) -> Option<&mut Package> {
        match self {
            Body::Message { data, .. }
            | Body::AliasMessage { data, .. }
            | Body::Exit { reason: data, .. }
            | Body::Down { reason: data, .. } => Some(data),
            _ => None,
        }
    }
}

// What a thread's list of freed blocks takes and gives.
const _: () = assert!(size_of::<Signal>() == RECENT_BYTES && align_of::<Signal>() == NODE_ALIGN);

impl Signal {
    pub fn new(body: Body) -> Box<Signal> {
        Box::new(Signal { next: std::ptr::null_mut(), body })
    }
    pub fn message_from(from: Term, data: Package) -> Box<Signal> {
        Signal::message_with(from, data, None)
    }
    #[inline]
    pub fn message_with(from: Term, data: Package, token: Option<Box<Token>>) -> Box<Signal> {
        Signal::recent(|| Body::message(from, data, token))
    }
    /// In memory that the thread freed lately, if there is any. That is asked for first: what `body` makes of values in registers
    /// is then written where it is to be. Made before, it would lie on the stack meanwhile in parts, and be read from there as
    /// a whole, for which the processor has to wait until all parts are in its cache (a tenth of what a short message cost). The same
    /// goes for a package: so `body` makes that too.
    #[inline(always)]
    pub(crate) fn recent(body: impl FnOnce() -> Body) -> Box<Signal> {
        let place = match own_row().recent.take() {
            // SAFETY: `discard` kept it: a box's memory for a signal.
            Some(place) => unsafe { Box::from_raw(place.cast::<MaybeUninit<Signal>>()) },
            None => Box::new_uninit(),
        };
        Box::write(place, Signal { next: std::ptr::null_mut(), body: body() })
    }
    /// A message with nothing to free but its own memory.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        match &self.body {
            Body::Message { data, token: None, .. } => data.is_bare(),
            Body::Small { .. } => true,
            _ => false,
        }
    }
    /// Frees it. Nearly always that is a message which holds nothing (any more): then it is not asked what else it could be.
    #[inline]
    pub fn discard(self: Box<Signal>) {
        match self.is_plain() {
            true => {
                let place = Box::into_raw(self).cast::<MaybeUninit<Signal>>();
                // SAFETY: from `into_raw`; none of its fields has anything to free, so the memory is all. Its size is as asserted above.
                unsafe {
                    if !own_row().recent.keep(place.cast()) {
                        drop(Box::from_raw(place));
                    }
                }
            }
            false => drop(self),
        }
    }
    /// From somebody who is no process.
    pub fn message(data: Package) -> Box<Signal> {
        Signal::message_of(Term::NONE, data)
    }
    pub fn message_of(from: Term, data: Package) -> Box<Signal> {
        Signal::new(Body::Message { from, data, token: None, clears_token: false, is_old: false, before: std::ptr::null_mut() })
    }
}
