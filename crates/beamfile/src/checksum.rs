//! The module checksum: MD5 over the chunks that decide what the module does, in an order of its own.

use md5::{Digest, Md5};

use crate::container::{Chunk, find};
use crate::tables::LAMBDA_BYTES;

/// The checksum of an unpacked file. Missing chunks count as empty.
pub fn module_md5(file: &[u8], chunks: &[Chunk]) -> [u8; 16] {
    let mut md5 = Md5::new();
    for id in [b"AtU8", b"Code", b"StrT", b"ImpT", b"ExpT", b"FunT", b"LitT", b"Meta"] {
        match find(file, chunks, id) {
            Some(data) if id == b"FunT" => update_lambdas(&mut md5, data),
            Some(data) => md5.update(data),
            None => {}
        }
    }
    md5.finalize().into()
}

/// The last word of each entry depends on the compiler's mood, so it counts as zero.
fn update_lambdas(md5: &mut Md5, data: &[u8]) {
    let (count, entries) = data.split_at(data.len().min(4));
    md5.update(count);
    for entry in entries.chunks(LAMBDA_BYTES) {
        match entry.len() {
            LAMBDA_BYTES => {
                md5.update(&entry[..LAMBDA_BYTES - 4]);
                md5.update([0; 4]);
            }
            _ => md5.update(entry),
        }
    }
}
