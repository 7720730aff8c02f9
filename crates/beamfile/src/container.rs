//! The IFF container: `FOR1`, size, `BEAM`, then named chunks. The whole file may be gzip compressed.

use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;

use flate2::read::{GzDecoder, ZlibDecoder};

use crate::error::{BeamError, ChunkId};

/// No file and no literal table unpacks to more than this (guessed: the largest module of OTP is 100 times smaller).
const UNPACKED_BYTES_MAX: usize = 256 << 20;
/// Deflate cannot shrink further than about 1032:1.
const DEFLATE_RATIO_MAX: usize = 1040;

/// Where a chunk's data lies in the unpacked file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub id: ChunkId,
    pub range: Range<usize>,
}

/// The unpacked file: the bytes themselves unless they were gzipped.
pub fn unpack(bytes: &[u8]) -> Result<Cow<'_, [u8]>, BeamError> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut unpacked = Vec::new();
    let limit = unpacked_limit(bytes.len());
    let read = GzDecoder::new(bytes).take(limit as u64 + 1).read_to_end(&mut unpacked);
    match read {
        Ok(size) if size > limit => Err(container(0, format!("gzip data unpacks to more than {limit} bytes"))),
        Ok(_) => Ok(Cow::Owned(unpacked)),
        Err(error) => Err(container(0, format!("bad gzip data: {error}"))),
    }
}

/// Unpacks a zlib stream that must yield exactly `size` bytes.
pub(crate) fn inflate(packed: &[u8], size: usize) -> Result<Vec<u8>, String> {
    if size > unpacked_limit(packed.len()) {
        return Err(format!("{size} bytes announced, but {} compressed bytes cannot hold that much", packed.len()));
    }
    let mut unpacked = Vec::with_capacity(size.min(1 << 20));
    match ZlibDecoder::new(packed).take(size as u64 + 1).read_to_end(&mut unpacked) {
        Ok(got) if got == size => Ok(unpacked),
        Ok(got) if got > size => Err(format!("more than the announced {size} bytes come out")),
        Ok(got) => Err(format!("{got} bytes come out, {size} were announced")),
        Err(error) => Err(format!("bad zlib data: {error}")),
    }
}

fn unpacked_limit(packed: usize) -> usize {
    UNPACKED_BYTES_MAX.min(packed.saturating_mul(DEFLATE_RATIO_MAX))
}

/// Lists the chunks of an unpacked file without looking into them.
pub fn chunks(file: &[u8]) -> Result<Vec<Chunk>, BeamError> {
    if file.get(..4) != Some(b"FOR1") {
        return Err(container(0, "it does not start with FOR1".into()));
    }
    if file.get(8..12) != Some(b"BEAM") {
        return Err(container(8, "the FOR1 container does not hold a BEAM form".into()));
    }
    let form_size = be32(file, 4).unwrap_or(0) as usize;
    let Some(form) = form_size.checked_add(8).and_then(|end| file.get(..end)) else {
        return Err(container(4, format!("the form has {form_size} bytes, but the file ends after {}; it is cut", file.len() - 8)));
    };
    let mut list = Vec::with_capacity(20);
    let mut pos = 12;
    while pos < form.len() {
        let Some((id, size)) = form.get(pos..pos + 4).and_then(|id| Some((id, be32(form, pos + 4)?))) else {
            return Err(container(pos, "the file ends inside a chunk header".into()));
        };
        let id = ChunkId([id[0], id[1], id[2], id[3]]);
        let (start, size) = (pos + 8, size as usize);
        if size > form.len() - start {
            return Err(container(pos, format!("chunk {id} has {size} bytes, but only {} are left; the file is cut", form.len() - start)));
        }
        list.push(Chunk { id, range: start..start + size });
        pos = start + size.next_multiple_of(4);
    }
    Ok(list)
}

/// The data of a chunk. Of chunks with the same name the first one counts.
pub fn find<'a>(file: &'a [u8], chunks: &[Chunk], id: &[u8; 4]) -> Option<&'a [u8]> {
    let chunk = chunks.iter().find(|chunk| chunk.id.0 == *id)?;
    file.get(chunk.range.clone())
}

/// A file of the same kind with some of the chunks of an unpacked file.
pub fn with_chunks(file: &[u8], ids: &[&[u8; 4]]) -> Result<Vec<u8>, BeamError> {
    let mut form = b"BEAM".to_vec();
    for chunk in chunks(file)?.into_iter().filter(|chunk| ids.contains(&&chunk.id.0)) {
        form.extend_from_slice(&chunk.id.0);
        form.extend_from_slice(&(chunk.range.len() as u32).to_be_bytes());
        form.extend_from_slice(&file[chunk.range]);
        form.resize(form.len().next_multiple_of(4), 0);
    }
    let size = (form.len() as u32).to_be_bytes();
    Ok([&b"FOR1"[..], &size, &form].concat())
}

fn be32(bytes: &[u8], pos: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(pos..)?.first_chunk()?))
}

fn container(offset: usize, problem: String) -> BeamError {
    BeamError::Container { offset, problem }
}
