//! Data for the owner of the port.

use crate::binary::{self, DriverBinary};
use crate::entry::IoVec;
use crate::instance::{self, PortHandle};
use crate::output::{self, Piece};
use crate::text::bytes;
use libc::{c_char, c_int, iovec, size_t};

/// The parts of a vector after its first `skip` bytes, each with its binary.
///
/// # Safety
/// The vector is one of the library, whose parts are live.
// SAFETY: functions of the interface call it with the vector that the library passes.
pub(super) unsafe fn parts<'a>(vector: *const IoVec, mut skip: usize) -> Vec<(&'a [u8], *mut DriverBinary)> {
    let mut parts = Vec::new();
    // SAFETY: by contract.
    unsafe {
        for at in 0..(*vector).vsize.max(0) as usize {
            let iovec { iov_base, iov_len } = *(*vector).iov.add(at);
            let part = bytes(iov_base.cast(), iov_len);
            let skipped = skip.min(part.len());
            skip -= skipped;
            if skipped < part.len() {
                parts.push((&part[skipped..], *(*vector).binv.add(at)));
            }
        }
    }
    parts
}

fn two(port: PortHandle, head: &[u8], body: Option<&[u8]>) -> c_int {
    let Some(instance) = instance::of(port) else { return -1 };
    if let Some(result) = instance.refuses() {
        return result;
    }
    if output::is_in_lines(&instance) {
        output::send_lines(&instance, head, body.unwrap_or_default());
        return 0;
    }
    let piece = body.map(|bytes| Piece { bytes, binary: None });
    output::send(&instance, head, piece.as_slice());
    0
}

api! { FUNCTIONS:
    fn driver_output(port: PortHandle, at: *const c_char, size: size_t) -> c_int {
        two(port, &[], Some(bytes(at, size)))
    }
    fn driver_output2(port: PortHandle, head: *const c_char, head_size: size_t, at: *const c_char, size: size_t) -> c_int {
        two(port, bytes(head, head_size), (!at.is_null()).then(|| bytes(at, size)))
    }
    fn driver_output_binary(
        port: PortHandle, head: *const c_char, head_size: size_t, binary: *mut DriverBinary, offset: size_t, size: size_t
    ) -> c_int {
        let Some(instance) = instance::of(port) else { return -1 };
        if let Some(result) = instance.refuses() {
            return result;
        }
        let body = bytes(binary::data(binary).wrapping_add(offset).cast(), size);
        output::send(&instance, bytes(head, head_size), &[Piece { bytes: body, binary: Some(binary) }]);
        0
    }
    fn driver_outputv(port: PortHandle, head: *const c_char, head_size: size_t, vector: *const IoVec, skip: size_t) -> c_int {
        if (*vector).size <= skip {
            return two(port, bytes(head, head_size), None);
        }
        let Some(instance) = instance::of(port) else { return -1 };
        if let Some(result) = instance.refuses() {
            return result;
        }
        let pieces: Vec<Piece> =
            parts(vector, skip).iter().map(|&(bytes, binary)| Piece { bytes, binary: (!binary.is_null()).then_some(binary) }).collect();
        output::send(&instance, bytes(head, head_size), &pieces);
        0
    }
    fn driver_vec_to_buf(vector: *const IoVec, to: *mut c_char, size: size_t) -> size_t {
        let mut done = 0;
        for (part, _) in parts(vector, 0) {
            let count = part.len().min(size - done);
            std::ptr::copy_nonoverlapping(part.as_ptr(), to.add(done).cast(), count);
            done += count;
        }
        done
    }
}
