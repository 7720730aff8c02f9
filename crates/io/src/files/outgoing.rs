//! Bytes on their way into a file: a list of binaries, of which the large ones are not copied.

use heddle_natives::args;
use heddle_term::Term;
use heddle_term::bits::BitsView;
use heddle_term::held::HeldBytes;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

/// Bytes from which on a binary is written from where it is.
const LARGE: usize = 1 << 14;

enum Piece {
    Copied(Vec<u8>),
    Held(HeldBytes),
}

/// Data on its way to a file. It is no part of a heap, so the process may collect meanwhile.
pub struct Outgoing(Vec<Piece>);

impl Outgoing {
    /// The bytes of a list of binaries. None if it is another term.
    pub fn of(list: Term) -> Option<Outgoing> {
        let mut pieces = Vec::new();
        for item in args::list(list)? {
            let view = BitsView::of(item).filter(|bits| bits.is_binary())?;
            match (view.as_bytes(), pieces.last_mut()) {
                (Some(bytes), _) if bytes.len() >= LARGE => pieces.push(Piece::Held(HeldBytes::of(item))),
                (Some(bytes), Some(Piece::Copied(before))) => before.extend_from_slice(bytes),
                (None, Some(Piece::Copied(before))) => before.extend(view.to_vec()),
                _ => pieces.push(Piece::Copied(view.to_vec())),
            }
        }
        Some(Outgoing(pieces))
    }

    fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(|piece| match piece {
            Piece::Copied(bytes) => bytes.as_slice(),
            Piece::Held(bytes) => bytes.as_bytes(),
        })
    }

    /// Writes all at the file's position.
    pub fn write(&self, mut file: &File) -> io::Result<()> {
        self.parts().try_for_each(|bytes| file.write_all(bytes))
    }

    /// Writes all at an offset, and leaves the position where it is.
    pub fn write_at(&self, file: &File, mut offset: u64) -> io::Result<()> {
        for bytes in self.parts() {
            file.write_all_at(bytes, offset)?;
            offset += bytes.len() as u64;
        }
        Ok(())
    }
}
