//! How a process packs a term that it sends: what becomes a package of its own depends on the memory architecture, and on what the
//! process has in its open region.

use crate::base::memory_mode;
use crate::heap::hybrid::own_copy;
use crate::heap::shared;
use crate::observe::messages::{Cost, Timed};
use crate::process::Process;
use crate::signal::package::{Package, SHARE_ABOVE_WORDS, is_in_heap};
use heddle_term::Term;
use heddle_term::area::Region;
use heddle_term::copy::{Keep, flat_size_to};
use heddle_term::holding;
use heddle_term::open::LARGE_WORDS;

impl Package {
    /// What `p` sends by way of the message area. `count` gets the cost, and returns whether the copy must be timed.
    #[inline(always)]
    pub fn sharing(p: &mut Process, term: Term, count: impl FnOnce(Cost) -> Timed) -> Package {
        let keep = Keep::shared();
        match holding::in_place(term, keep) {
            Some(region) if region.is_null() => {
                let _ = count(Cost::NOTHING);
                Package::immediate(term)
            }
            Some(region) => {
                // SAFETY: a caller that has the term holds its region. The pointer from `open` is null or that of a live open
                // region.
                unsafe {
                    let mut open = p.open().as_mut().filter(|open| open.is_in(region));
                    if let Some(open) = &mut open
                        && open.unsent_words() <= SHARE_ABOVE_WORDS
                        && let words @ ..=SHARE_ABOVE_WORDS = flat_size_to(term, keep.literals(), SHARE_ABOVE_WORDS)
                    {
                        open.sends_copy();
                        p.missed_words = 0;
                        return Package::small(term, keep.literals(), words, words, count);
                    }
                    let built = open.map(|open| open.sends());
                    p.missed_words = if built.is_some() { 0 } else { p.missed_words };
                    let referred = built.unwrap_or_else(|| Region::words(region));
                    let _ = count(Cost { words: 0, referred, foreseen: if Region::is_foreseen(region) { referred } else { 0 } });
                    Region::hold(region, 1);
                }
                Package::of_region(term, region)
            }
            None => match holding::small_copy(term, keep, SHARE_ABOVE_WORDS) {
                Some(words) => Package::small_of(p, term, keep, words, count),
                None => Package::copied_of(p, term, keep, count),
            },
        }
    }

    /// A small message that is on `p`'s heap.
    #[inline(always)]
    fn small_of(p: &mut Process, term: Term, keep: Keep, words: usize, count: impl FnOnce(Cost) -> Timed) -> Package {
        let cost = Package::cost_of_small(p, words);
        Package::small(term, keep, words, cost.foreseen, count)
    }

    /// The cost of sending `words` words from `p`'s heap, beside a message area.
    #[inline(always)]
    pub(crate) fn cost_of_small(p: &mut Process, words: usize) -> Cost {
        let missed = std::mem::take(&mut p.missed_words) as usize;
        // SAFETY: the pointer is null or that of a live open region.
        if let Some(open) = unsafe { p.open().as_mut() } {
            open.copied(words, missed);
        }
        Cost { words, referred: 0, foreseen: missed.min(words) }
    }

    #[inline(never)]
    fn copied_of(p: &mut Process, term: Term, keep: Keep, count: impl FnOnce(Cost) -> Timed) -> Package {
        let missed = std::mem::take(&mut p.missed_words) as usize;
        let package = Package::copied_to_share(term, keep, missed, count);
        // SAFETY: as in `cost_of_small`.
        if let Some(open) = unsafe { p.open().as_mut() } {
            open.copied(package.words(), missed);
        } else if missed >= LARGE_WORDS && package.region().is_some() {
            p.rare().open.copied(package.words(), missed);
        }
        if let Some(region) = package.region() {
            // SAFETY: the package holds the region, to which the term was copied.
            unsafe { own_copy::goes_on_in(p, term, package.term(), region, package.words()) };
        }
        package
    }

    /// The arguments of a new process: shared as a message is.
    pub(crate) fn for_new_process(parent: Option<&Process>, term: Term) -> Package {
        let keep = Keep::shared();
        match holding::in_place(term, keep) {
            Some(region) if region.is_null() => Package::immediate(term),
            Some(region) => {
                // SAFETY: as in `sharing`.
                unsafe { Region::hold(region, 1) };
                Package::of_region(term, region)
            }
            None => Package::copied_to_share(term, keep, parent.map_or(0, |parent| parent.missed_words as usize), |_| Timed::NO),
        }
    }

    /// With a shared heap: `by_pointer` for a message. The size of the term is not looked at.
    #[inline(always)]
    pub(crate) fn by_pointer_counted(from: &mut Process, term: Term, count: impl FnOnce(Cost) -> Timed) -> Package {
        let _ = count(Cost { words: 0, referred: is_in_heap(term) as usize, foreseen: 0 });
        Package::by_pointer(from, term)
    }

    /// With a shared heap: the term itself, which is in `from`'s block.
    #[inline(always)]
    pub(crate) fn by_pointer(from: &mut Process, term: Term) -> Package {
        if is_in_heap(term) {
            shared::publish(from);
        }
        Package::immediate(term)
    }

    /// The term, if its data is in the shared heap.
    pub(crate) fn shared_term(&self) -> Option<Term> {
        (memory_mode::sends_pointers() && self.is_bare() && self.term().is_pointer()).then_some(self.term())
    }
}
