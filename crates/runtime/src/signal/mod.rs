//! Everything that is sent to a process.

pub mod inbox;
pub mod inner_queue;
pub(crate) mod outgoing;
pub mod package;
mod packing;
pub(crate) mod prefetch_chain;
pub mod remote;
pub mod send;
pub mod send_remote;
pub mod small;
pub mod undecoded;

use crate::base::refs::RefId;
use crate::process::Process;
use crate::signal::package::Package;
use crate::signal::remote::RemoteSignal;
use crate::timer::Handle;
use crate::trace::token::Token;
use heddle_memory::{RECENT_BYTES, own_row};
use heddle_sync::flagged_stack::NODE_ALIGN;
use heddle_term::{Atom, Term};
use std::mem::MaybeUninit;

pub(crate) type CallFn = Box<dyn FnOnce(Option<&mut Process>) + Send>;

/// Aligned as the state word needs it (`inbox`).
#[repr(align(16))]
pub struct Signal {
    pub next: *mut Signal,
    pub body: SignalBody,
}

/// A signal is one line of the processor's cache.
const _: () = assert!(size_of::<Signal>() == 64);

// SAFETY: a signal owns what it carries; `next` belongs to the queue it is on.
unsafe impl Send for Signal {}

pub enum SignalBody {
    /// `from`: the sending process, or NONE.
    Message {
        from: Term,
        data: Package,
        /// The token of sequential tracing that goes with it.
        token: Option<Box<Token>>,
        /// A message without a token also clears the token that its receiver has. True for messages that processes send.
        clears_token: bool,
        /// With a shared heap: the message was in the inbox at an earlier collection, so what it refers to is old. The same holds
        /// for those below it in the inbox.
        is_old: bool,
        /// In a queue, if the data is in the heap: the previous one among such messages; the next one is kept with the data. See
        /// `inner_queue`. In a queue, while the data is not in the heap: where a later message may be, for prefetching alone. In an
        /// inbox: where an earlier one may be, for prefetching alone (`prefetch_chain`).
        before: *mut Signal,
    },
    /// A message without a token whose data is in the signal itself, until it goes to the heap: see `small`.
    Small {
        from: Term,
        words: [u64; small::WORDS],
        /// The number of words that are used.
        count: u8,
        /// True if the first two words are a list cell; else the first word is an object's header.
        is_list: bool,
        /// With a shared heap: it was in the inbox at an earlier collection, as were those below it.
        is_old: bool,
        /// As for `Message`.
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
    /// `watcher` monitors the receiver. `name`: the registered name that was used, if any.
    Monitor {
        watcher: Term,
        reference: RefId,
        name: Option<Atom>,
    },
    Demonitor {
        reference: RefId,
    },
    /// A process or port that the receiver monitors ended, for this reason.
    Down {
        reference: RefId,
        reason: Package,
    },
    /// From another node.
    Remote(Box<RemoteSignal>),
    /// This receive timer fired.
    Timeout(Handle),
    /// Resumes a process that a native left waiting, or only makes it check its state.
    Wake,
    /// Runs in the receiver, in order with its other signals; its argument is None if the receiver has ended.
    Call(CallFn),
}

impl SignalBody {
    /// A message from a process.
    #[inline(always)]
    pub(crate) fn message(from: Term, data: Package, token: Option<Box<Token>>) -> SignalBody {
        SignalBody::Message { from, data, token, clears_token: true, is_old: false, before: std::ptr::null_mut() }
    }

    /// The term of a message, in place; NONE if the signal is not a message.
    #[inline(always)]
    pub(crate) fn message_term(&self) -> Term {
        match self {
            SignalBody::Message { data, .. } => data.term(),
            SignalBody::Small { words, is_list, .. } => small::root(words.as_ptr(), *is_list),
            _ => Term::NONE,
        }
    }

    /// The data that goes with the signal, if it may be in a heap.
    #[inline(always)]
    pub(crate) fn carried(&mut self) -> Option<&mut Package> {
        match self {
            SignalBody::Message { data, .. }
            | SignalBody::AliasMessage { data, .. }
            | SignalBody::Exit { reason: data, .. }
            | SignalBody::Down { reason: data, .. } => Some(data),
            _ => None,
        }
    }
}

// The sizes that a thread's list of freed signals takes and returns.
const _: () = assert!(size_of::<Signal>() == RECENT_BYTES && align_of::<Signal>() == NODE_ALIGN);

impl Signal {
    pub fn new(body: SignalBody) -> Box<Signal> {
        Box::new(Signal { next: std::ptr::null_mut(), body })
    }
    pub fn remote(signal: RemoteSignal) -> Box<Signal> {
        Signal::new(SignalBody::Remote(Box::new(signal)))
    }
    pub fn message_from(from: Term, data: Package) -> Box<Signal> {
        Signal::message_with(from, data, None)
    }
    #[inline]
    pub fn message_with(from: Term, data: Package, token: Option<Box<Token>>) -> Box<Signal> {
        Signal::recent(|| SignalBody::message(from, data, token))
    }
    /// A signal in memory that the thread freed lately, if there is any. The memory is taken first, so that `body` writes its
    /// values from registers directly into place. A body made earlier would be written to the stack in parts and read back as a
    /// whole, and the processor would have to wait until all parts are in its cache. The same goes for a package, so `body` makes
    /// that too.
    #[inline(always)]
    pub(crate) fn recent(body: impl FnOnce() -> SignalBody) -> Box<Signal> {
        let place = match own_row().recent.take() {
            // SAFETY: `discard` kept it: a box's memory for a signal.
            Some(place) => unsafe { Box::from_raw(place.cast::<MaybeUninit<Signal>>()) },
            None => Box::new_uninit(),
        };
        Box::write(place, Signal { next: std::ptr::null_mut(), body: body() })
    }
    /// True for a message that has nothing to free but its own memory.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        match &self.body {
            SignalBody::Message { data, token: None, .. } => data.is_bare(),
            SignalBody::Small { .. } => true,
            _ => false,
        }
    }
    /// Frees the signal. Nearly always it is a message that holds nothing (any more), so that case is tested first.
    #[inline]
    pub(crate) fn discard(self: Box<Signal>) {
        match self.is_plain() {
            true => {
                let place = Box::into_raw(self).cast::<MaybeUninit<Signal>>();
                // SAFETY: from `into_raw`; none of its fields has anything to free, so only the memory is left. Its size is as
                // asserted above.
                unsafe {
                    if !own_row().recent.keep(place.cast()) {
                        drop(Box::from_raw(place));
                    }
                }
            }
            false => drop(self),
        }
    }
    /// A message that does not come from a process.
    pub fn message(data: Package) -> Box<Signal> {
        Signal::message_of(Term::NONE, data)
    }
    /// As `message`, with the sender that traces tell.
    pub fn message_of(from: Term, data: Package) -> Box<Signal> {
        Signal::new(SignalBody::Message { from, data, token: None, clears_token: false, is_old: false, before: std::ptr::null_mut() })
    }
}
