//! A stored object: one allocation with a header and the flat words of the tuple, literals copied with them. The header is short, so
//! that a pair of immediates is one line of the cache: a thread that changes a counter that another core changed last waits for that line.

use heddle_term::copy::{Keep, copy_to_keeping, flat_size_keeping, flat_tuple_words};
use heddle_term::refbin::RefBin;
use heddle_term::{Header, Kind, OffHeap, Term};
use std::cell::UnsafeCell;
use std::ptr::{NonNull, null_mut};

#[repr(C)]
pub struct Object {
    /// Next in the chain of a hash table.
    pub next: *mut Object,
    /// Place in a hash table's order (58 bits).
    pub hash: u64,
    pub key: Term,
    /// Where the first boxed term in the data lies that owns memory elsewhere, in words from the object's start. 0: none does.
    off_heap: u32,
    data_words: u32,
    /// The data, which begins with the tuple. In a cell, since `set_immediate` changes it while there are references to the object.
    data: UnsafeCell<[u64; 0]>,
}

const HEADER_WORDS: usize = size_of::<Object>() / 8;
const _: () = assert!(size_of::<Object>() + 3 * 8 <= 64, "a pair of immediates must be one line");

impl Object {
    fn bytes(data_words: usize) -> usize {
        size_of::<Object>() + data_words * 8
    }

    /// The copy of the tuple, with which the data begins.
    pub fn tuple(&self) -> Term {
        Term::boxed(self.data.get().cast())
    }

    pub fn elements(&self) -> &[Term] {
        self.tuple().as_tuple().unwrap_or(&[])
    }

    pub fn words(&self) -> usize {
        HEADER_WORDS + self.data_words as usize
    }

    fn first_off_heap(&self) -> *mut u64 {
        match self.off_heap as usize {
            0 => null_mut(),
            words => std::ptr::from_ref(self).cast::<u64>().wrapping_add(words).cast_mut(),
        }
    }

    /// Overwrites an element in place, if neither the old nor the new one needs memory. Returns false otherwise.
    /// The caller holds the lock for writing.
    pub fn set_immediate(&self, index: usize, value: Term) -> bool {
        if !value.is_immediate() || !self.elements()[index].is_immediate() {
            return false;
        }
        // SAFETY: the tuple lies in our own data and no other thread looks at it under the write lock.
        unsafe { *self.tuple().ptr().add(1 + index) = value.raw() };
        true
    }

    /// Calls `f` with every binary block that the object refers to: its address, bytes and references.
    pub fn binaries(&self, mut f: impl FnMut(usize, usize, usize)) {
        let mut boxed = self.first_off_heap();
        while !boxed.is_null() {
            // SAFETY: the list of our own data: live boxed objects, linked by the word after their header.
            unsafe {
                if Header::from_raw(*boxed).kind() == Kind::BinRef {
                    let block = *boxed.add(3) as *const RefBin;
                    f(block as usize, RefBin::size_bytes(block), RefBin::refcount(block));
                }
                boxed = *boxed.add(1) as *mut u64;
            }
        }
    }
}

/// An object with the right to free it.
pub struct Owned(NonNull<Object>);

// SAFETY: an object owns its memory alone; what it shares (binaries, resources, literals) may be used from any thread.
unsafe impl Send for Owned {}
// SAFETY: as above; a shared reference only reads.
unsafe impl Sync for Owned {}

impl Owned {
    /// A copy of `tuple`, whose element `key_index` is the key.
    pub fn new(tuple: Term, key_index: usize, hash: u64) -> Owned {
        let flat_words = flat_tuple_words(tuple, Keep::NOTHING);
        let data_words = flat_words.unwrap_or_else(|| flat_size_keeping(tuple, Keep::NOTHING));
        let bytes = Object::bytes(data_words);
        let Ok(data_words) = u32::try_from(data_words) else { heddle_memory::out_of_memory(heddle_memory::MemoryKind::Ets, bytes) };
        // SAFETY: fresh memory, and the words after the header number as many as were counted.
        unsafe {
            let object = heddle_memory::allocate(heddle_memory::MemoryKind::Ets, bytes).cast::<Object>();
            let mut off_heap = OffHeap::new();
            // Terms are addresses. Exposed, so that a term made from a reference to the object may reach the data after the header.
            let address = object.expose_provenance() as u64;
            let data = object.add(1).cast::<u64>();
            let copy = match flat_words {
                Some(words) => {
                    std::ptr::copy_nonoverlapping(tuple.ptr(), data, words);
                    Term::boxed(data)
                }
                None => copy_to_keeping(tuple, data, &mut off_heap, Keep::NOTHING),
            };
            // It fits: an object that owns memory elsewhere is no shorter than the header.
            let off_heap = if off_heap.head.is_null() { 0 } else { (off_heap.head as u64 - address) / 8 } as u32;
            let data = UnsafeCell::new([]);
            object.write(Object { next: null_mut(), hash, key: copy.slot(key_index), off_heap, data_words, data });
            debug_assert!((*object).tuple() == copy);
            Owned(NonNull::new_unchecked(object))
        }
    }

    pub fn into_raw(self) -> *mut Object {
        let ptr = self.0.as_ptr();
        std::mem::forget(self);
        ptr
    }

    /// # Safety
    /// `ptr` comes from `into_raw` and is owned by the caller.
    pub unsafe fn from_raw(ptr: *mut Object) -> Owned {
        // SAFETY: by contract not null.
        Owned(unsafe { NonNull::new_unchecked(ptr) })
    }
}

impl std::ops::Deref for Owned {
    type Target = Object;
    fn deref(&self) -> &Object {
        // SAFETY: owned and live.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: sole owner.
        unsafe {
            let object = self.0.as_ptr();
            OffHeap { head: (*object).first_off_heap(), virtual_words: 0 }.release_all();
            heddle_memory::free(heddle_memory::MemoryKind::Ets, object.cast(), Object::bytes((*object).data_words as usize));
        }
    }
}

/// What an update under the write lock does with the object of a key.
pub enum Change {
    Nothing,
    Put(Owned),
}

/// What a traversal that may change things does with an object.
pub enum Verdict {
    Keep,
    Delete,
    Replace(Owned),
}
