//! The off-heap objects of a process after a collection. Those that were copied go on the lists of their generation; what the
//! others own is released; references to regions stay if the collector met a term in their region (see `area`).

use heddle_term::area::{self, Region, Seen};
use heddle_term::heap::release_object;
use heddle_term::term::TAG_FORWARD;
use heddle_term::{Header, OffHeap};
use std::ptr::null_mut;

/// A range of memory, to ask whether an address is in it.
pub(crate) struct Area {
    from: usize,
    bytes: usize,
}

impl Area {
    pub(crate) fn new(from: *mut u64, to: *mut u64) -> Area {
        Area { from: from as usize, bytes: to as usize - from as usize }
    }
    #[inline(always)]
    pub(crate) fn contains(&self, ptr: *mut u64) -> bool {
        (ptr as usize).wrapping_sub(self.from) < self.bytes
    }
}

/// Where off-heap objects that survive go, and the regions that are still referred to.
pub(crate) struct Survivors<'a> {
    pub top: *mut u64,
    pub list: OffHeap,
    pub seen: &'a mut Seen,
}

/// Where survivors that are promoted go.
pub(crate) struct Promoted<'a> {
    pub mature: Area,
    pub top: *mut u64,
    pub area: Area,
    pub list: &'a mut OffHeap,
}

/// A reference to a region stays as long as the collector met any term in the region, though no term leads to the reference itself.
/// It is promoted as other objects are; so a promoted object that refers to a region has a reference in its generation that existed
/// before the object.
///
/// # Safety
/// `object` is such a reference in from-space; each destination has room for all that was in from-space.
unsafe fn sweep_reference(object: *mut u64, region: *mut Region, to: &mut Survivors, promoted: &mut Option<&mut Promoted>) {
    let Some(survivor) = to.seen.get(region) else {
        // SAFETY: a listed object, which is on no list from here on.
        return unsafe { release_object(object) };
    };
    // SAFETY: by contract; the survivor is one that this function wrote.
    unsafe {
        let (top, list) = match promoted {
            Some(promoted) if promoted.mature.contains(object) => (&mut promoted.top, &mut *promoted.list),
            _ if survivor.is_null() => {
                *survivor = to.top;
                (&mut to.top, &mut to.list)
            }
            // One reference per region is enough.
            _ => return *survivor.add(3) += *object.add(3),
        };
        std::ptr::copy_nonoverlapping(object, *top, area::REFERENCE_WORDS);
        list.push(*top);
        list.virtual_words += virtual_words(*top);
        *top = top.add(area::REFERENCE_WORDS);
    }
}

/// Calls `f` on each object of a list, with the place it was moved to, if it was moved. `f` may put the object on another list, or
/// release it.
///
/// # Safety
/// The objects on the list are whole; the old copies of those that were moved are still there.
#[inline(always)]
// SAFETY: collections call it before they free from-space.
pub(crate) unsafe fn for_each_moved(mut object: *mut u64, mut f: impl FnMut(*mut u64, Option<*mut u64>)) {
    while !object.is_null() {
        // SAFETY: by contract. The link word survives the move.
        let (next, first) = unsafe { (*object.add(1) as *mut u64, *object) };
        f(object, (first & 7 == TAG_FORWARD).then_some((first & !7) as *mut u64));
        object = next;
    }
}

/// Moves what survived on `from` to the lists of survivors; releases the rest.
pub(crate) fn sweep(from: &mut OffHeap, to: &mut Survivors, mut promoted: Option<&mut Promoted>) {
    from.virtual_words = 0;
    let sweep = |object: *mut u64, moved: Option<*mut u64>| {
        // SAFETY: the object was not moved, or was moved whole.
        unsafe {
            if let Some(moved) = moved {
                let list: &mut OffHeap = match &mut promoted {
                    Some(promoted) if promoted.area.contains(moved) => promoted.list,
                    _ => &mut to.list,
                };
                list.push(moved);
                list.virtual_words += virtual_words(moved);
            } else if let Some((region, _)) = area::reference(object) {
                sweep_reference(object, region, to, &mut promoted);
            } else {
                release_object(object);
            }
        }
    };
    // SAFETY: objects on the list are whole; from-space is still there.
    unsafe { for_each_moved(std::mem::replace(&mut from.head, null_mut()), sweep) };
}

/// Words that an object owns outside the heap.
///
/// # Safety
/// It is an initialised off-heap object.
// SAFETY: callers take the object from an off-heap list, or have just moved it whole.
pub(crate) unsafe fn virtual_words(object: *mut u64) -> usize {
    // SAFETY: by contract; layout as in `boxed`.
    unsafe {
        match Header::from_raw(*object).kind() {
            heddle_term::Kind::BinRef => heddle_term::refbin::RefBin::capacity_bytes(*object.add(3) as *const _) / 8,
            heddle_term::Kind::RegionRef => Region::words(*object.add(2) as *const Region),
            _ => 0,
        }
    }
}
