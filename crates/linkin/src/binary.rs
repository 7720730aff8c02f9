//! Binaries of drivers (`ErlDrvBinary`): a word with the size in bytes, and the bytes. Both lie in the memory of a binary of the VM, so a term can
//! refer to the bytes where they are, and the references of terms and of the library are counted together.

use heddle_term::boxed::HEAP_BITS_MAX_BYTES;
use heddle_term::refbin::RefBin;
use heddle_term::{Heap, Term};

/// `ErlDrvBinary`; its bytes follow.
#[repr(C)]
pub struct DriverBinary {
    pub size: i64,
}

const SIZE_BYTES: usize = size_of::<DriverBinary>();

/// The block in whose memory the binary is.
fn block(binary: *mut DriverBinary) -> *mut RefBin {
    // The header of the block lies just before.
    binary.cast::<RefBin>().wrapping_sub(1)
}

/// Makes a block a binary of this size.
///
/// # Safety
/// The block is live, has room for size and bytes, and the caller owns it.
// SAFETY: `allocate` and `resize` call it with a block that they have just made.
unsafe fn of(new: *mut RefBin, size: usize) -> *mut DriverBinary {
    // SAFETY: by contract.
    unsafe {
        let binary = RefBin::data(new).cast::<DriverBinary>();
        (*binary).size = size as i64;
        binary
    }
}

pub fn allocate(size: usize) -> *mut DriverBinary {
    // SAFETY: a new block with room for both.
    unsafe { of(RefBin::allocate(size + SIZE_BYTES), size) }
}

pub fn from_bytes(bytes: &[u8]) -> *mut DriverBinary {
    let binary = allocate(bytes.len());
    // SAFETY: fresh, with room for the bytes.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), data(binary), bytes.len()) };
    binary
}

/// The address of the bytes.
pub fn data(binary: *mut DriverBinary) -> *mut u8 {
    binary.wrapping_add(1).cast()
}

/// Its size in bytes.
///
/// # Safety
/// The binary is live.
// SAFETY: functions of the interface call it with a binary of the library.
pub unsafe fn size(binary: *mut DriverBinary) -> usize {
    // SAFETY: by contract.
    unsafe { (*binary).size.max(0) as usize }
}

/// # Safety
/// The caller has a reference to the binary.
// SAFETY: functions of the interface call it with a binary of the library.
pub unsafe fn retain(binary: *mut DriverBinary) {
    // SAFETY: by contract.
    unsafe { RefBin::retain(block(binary)) }
}

/// # Safety
/// The caller gives up a reference of its own.
// SAFETY: functions of the interface call it for a reference of the library, and the queue for one of its own.
pub unsafe fn release(binary: *mut DriverBinary) {
    // SAFETY: by contract.
    unsafe { RefBin::release(block(binary)) }
}

/// # Safety
/// The binary is live.
// SAFETY: functions of the interface call it with a binary of the library.
pub unsafe fn references(binary: *mut DriverBinary) -> usize {
    // SAFETY: by contract.
    unsafe { RefBin::refcount(block(binary)) }
}

/// A binary of another size with the same first bytes.
///
/// # Safety
/// The caller has a reference, which it gives up.
// SAFETY: `driver_realloc_binary` calls it with a binary of the library.
pub unsafe fn resize(binary: *mut DriverBinary, new_size: usize) -> *mut DriverBinary {
    // SAFETY: by contract; the only reference may move the block.
    unsafe {
        if references(binary) == 1 {
            return of(RefBin::grow(block(binary), new_size + SIZE_BYTES), new_size);
        }
        let new = allocate(new_size);
        std::ptr::copy_nonoverlapping(data(binary), data(new), size(binary).min(new_size));
        release(binary);
        new
    }
}

/// A term for a part of the binary. A large one refers to the bytes where they are.
///
/// # Safety
/// The binary is live, and the part is in it.
// SAFETY: callers check offset and size.
pub unsafe fn term(heap: &mut Heap, binary: *mut DriverBinary, offset: usize, bytes: usize) -> Term {
    // SAFETY: by contract.
    unsafe {
        if bytes <= HEAP_BITS_MAX_BYTES {
            return heap.binary(std::slice::from_raw_parts(data(binary).add(offset), bytes));
        }
        retain(binary);
        let whole = heap.bin_ref(block(binary), (size(binary) + SIZE_BYTES) as u64 * 8);
        heap.sub_bits(whole, ((offset + SIZE_BYTES) * 8) as u64, bytes as u64 * 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_and_the_library_count_references_together() {
        let binary = from_bytes(&[7; 100]);
        let mut heap = Heap::new();
        // SAFETY: the binary is live until the last release.
        unsafe {
            let term = term(&mut heap, binary, 1, 98);
            assert_eq!(heddle_term::list::iolist_to_vec(term).ok(), Some(vec![7; 98]));
            assert_eq!(references(binary), 2);
            heap.clear();
            assert_eq!(references(binary), 1);
            let larger = resize(binary, 1000);
            assert_eq!((size(larger), *data(larger).add(99)), (1000, 7));
            release(larger);
        }
    }
}
