//! An open region: where a process builds what it will send, so that sending copies nothing.
//!
//! Constructions that are judged messages (`beamfile::messages`) go here, if all their parts are immediate, literals, or here
//! themselves; else to the heap, where the code has asked for room in any case. So what begins in an open region lies in it whole,
//! and is sent by its address without a look at it. The owner goes on after what was sent: what others can see is not written.
//! What is not sent after all dies with the region.
//!
//! That pays for large messages only: small ones are copied for less than a region costs. So a process gets its first region when
//! it has sent a large message that was judged, and as much room as what was judged of the last ones took. Large messages have a region each,
//! smaller ones share one of 2 KB. A message that outgrows its region goes on on the heap; that part is copied when it is sent,
//! and the next region is larger. A process that fills a region and sends nothing of it was judged wrongly, and builds on its heap again.
//!
//! The owner's reference to the region lies in the region itself, as the heap may have no room when it is opened; the next
//! collection moves it to the heap. Open regions count as if they referred to literals, whether they do or not.

use crate::area::{self, BUILDER, NewRegion, REFERENCE_WORDS, Region, Seen};
use crate::heap::OffHeap;
use crate::literal::{self, RESERVED_BYTES, leaving};
use crate::term::Term;
use heddle_abi::settings::{Direct, SETTINGS};
use std::ptr::null_mut;

/// Messages of fewer words are built on the heap.
pub const LARGE_WORDS: usize = 32;
/// Messages of up to half as many words share regions with this much room. A process that keeps one of them keeps its region, so not more.
const SHARED_WORDS: usize = 256 - REFERENCE_WORDS - size_of::<Region>() / 8;
/// Room in others beside a message, for small ones: those are copied when they are sent, as a receiver that keeps one would keep the region.
const SPARE_WORDS: usize = 64;

pub struct Open {
    /// Null: there is none now.
    region: *mut Region,
    /// Its words after the owner's reference; up to where they were sent; and those that are free.
    start: *mut u64,
    sent: *mut u64,
    top: *mut u64,
    limit: *mut u64,
    /// Words of the next message, as far as the last ones tell; 0: none that is worth it.
    expected: usize,
    /// Regions that were opened since the last collection.
    fresh: usize,
}

impl Open {
    pub const NONE: Open =
        Open { region: null_mut(), start: null_mut(), sent: null_mut(), top: null_mut(), limit: null_mut(), expected: 0, fresh: 0 };

    /// May an object in the region refer to this?
    #[inline(always)]
    pub fn takes(&self, part: Term) -> bool {
        part.is_immediate() || self.contains(part) || (part.raw() as usize).wrapping_sub(literal::base()) < RESERVED_BYTES
    }

    #[inline(always)]
    pub fn contains(&self, term: Term) -> bool {
        (term.raw() as usize).wrapping_sub(self.start as usize) < self.limit as usize - self.start as usize
    }

    /// Room for an object of `words` words that the caller initialises at once; null if there is none left.
    #[inline(always)]
    pub fn room(&mut self, words: usize) -> *mut u64 {
        let at = self.top;
        if self.limit as usize - at as usize >= words * 8 {
            self.top = at.wrapping_add(words);
            at
        } else {
            null_mut()
        }
    }

    /// A new region if one is expected to be of use, with room for an object of `words` words, which refers to nothing in the
    /// region before it; else null, and the object goes to the heap.
    #[cold]
    #[inline(never)]
    pub fn begin(&mut self, words: usize, off_heap: &mut OffHeap) -> *mut u64 {
        let is_wasted = !self.region.is_null() && self.sent == self.start && !SETTINGS.direct.is(Direct::Always);
        if is_wasted {
            self.expected = 0;
        }
        self.region_ends();
        let expected = if SETTINGS.direct.is(Direct::Always) { self.expected.max(SHARED_WORDS) } else { self.expected };
        if expected < words.max(LARGE_WORDS) || leaving().is_some() {
            return null_mut();
        }
        let room = if expected > SHARED_WORDS / 2 { expected + SPARE_WORDS } else { SHARED_WORDS };
        let Some(new) = NewRegion::new(REFERENCE_WORDS + room) else {
            return null_mut();
        };
        let reference = new.start();
        self.region = new.close_to_build(REFERENCE_WORDS + room);
        self.start = reference.wrapping_add(REFERENCE_WORDS);
        self.limit = self.start.wrapping_add(room);
        (self.sent, self.top) = (self.start, self.start);
        self.fresh += 1;
        // SAFETY: the region is new, and its first words are for this; the holds are those of its maker.
        unsafe { area::refer(reference, self.region, BUILDER, off_heap) };
        self.room(words)
    }

    #[inline(always)]
    pub fn is_in(&self, region: *mut Region) -> bool {
        region == self.region
    }

    /// A term in this region is sent. Words of it that were not sent before.
    #[inline]
    pub fn sends(&mut self) -> usize {
        let words = self.unsent_words();
        if words > 0 {
            self.was_sent(words);
        }
        words
    }

    /// A copy of a small term in this region is sent: its receiver does not hold the region. If there are only such messages in the end,
    /// none is built here any more.
    pub fn sends_copy(&mut self) {
        self.sent = self.top;
        self.expected -= self.expected / 16;
        if self.free_words() < self.expected {
            self.region_ends();
        }
    }

    /// A message of `words` words was copied when it was sent; `missed` words, that were judged to be of one, were built on the heap.
    pub fn copied(&mut self, words: usize, missed: usize) {
        self.was_sent(words.min(missed) + self.unsent_words());
    }

    fn was_sent(&mut self, words: usize) {
        // The next one may be larger again.
        self.expected = words.max(self.expected - self.expected / 4);
        self.sent = self.top;
        if self.free_words() < self.expected {
            self.region_ends();
        }
    }

    /// Words that were built since the last message was sent.
    pub fn unsent_words(&self) -> usize {
        (self.top as usize - self.sent as usize) / 8
    }

    pub fn free_words(&self) -> usize {
        (self.limit as usize - self.top as usize) / 8
    }

    /// What is built from now on goes elsewhere. The owner holds the region as it holds others.
    pub fn region_ends(&mut self) {
        (self.region, self.start, self.sent, self.top, self.limit) = (null_mut(), null_mut(), null_mut(), null_mut(), null_mut());
    }

    /// Words that a collection needs for references that were not on the heap.
    pub fn fresh_words(&self) -> usize {
        self.fresh * REFERENCE_WORDS
    }

    /// A collection has met these regions. If this is one of them, something is being built; else the region ends, because a minor
    /// one does not tell whether what is old refers to it. Returns the words of it that were not sent, and will not be.
    pub fn collected(&mut self, seen: &mut Seen) -> usize {
        self.fresh = 0;
        if self.region.is_null() || seen.get(self.region).is_some() {
            return 0;
        }
        let unsent = self.unsent_words();
        self.region_ends();
        unsent
    }

    /// What was built: whole objects.
    pub fn built(&self) -> std::ops::Range<*mut u64> {
        self.start..self.top
    }
}
