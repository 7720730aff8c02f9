//! The driver `ram_file_drv`: a file in memory. OTP's module `ram_file` sends it commands, a byte and operands each, and it answers at once.

use super::driver::{After, Driver, DriverEntry, DriverName};
use super::port::Port;
use heddle_runtime::task::Context;
use heddle_term::{Atom, Heap, Term};
use std::sync::Arc;

pub const ENTRY: DriverEntry =
    DriverEntry { is_meant: |name| matches!(name, DriverName::Command(b"ram_file_drv")), open: |_, _| Ok(Box::new(RamFile::default())) };

#[derive(Default)]
pub struct RamFile {
    data: Vec<u8>,
    position: usize,
    readable: bool,
    writable: bool,
}

pub enum Reply {
    Ok,
    Error(&'static str),
    /// Length and bytes. The bytes are a binary if the port was opened with `binary`.
    Data(Vec<u8>),
    Number(u32),
}

impl Reply {
    /// `[Code | Operands]`; bytes of a binary port are the tail of the list.
    pub fn build(self, heap: &mut Heap, binary: bool) -> Term {
        let (head, tail) = match self {
            Reply::Ok => (vec![0], Term::NIL),
            Reply::Error(name) => (vec![1], heap.byte_list(name.as_bytes())),
            Reply::Number(n) => (vec![3], heap.byte_list(&n.to_be_bytes())),
            Reply::Data(bytes) => {
                let mut head = vec![2];
                head.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
                (head, if binary { heap.binary(&bytes) } else { heap.byte_list(&bytes) })
            }
        };
        let head: Vec<Term> = head.into_iter().map(|b| Term::small(b as i64)).collect();
        heap.list_with_tail(&head, tail)
    }
}

impl Driver for RamFile {
    fn command(&mut self, port: &Arc<Port>, _: Option<u64>, data: Vec<u8>, _: &mut Context<'_>) -> Option<After> {
        let reply = self.run_or_fail(&data);
        port.tell_owner(|heap| {
            let reply = reply.build(heap, port.binary);
            heap.tuple(&[Atom::new("data").into(), reply])
        });
        Some(After::Continue)
    }
}

/// Largest file, in bytes (guessed; positions are 32-bit in the protocol).
const SIZE_MAX: usize = 1 << 31;

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize)
}

/// The offset at which an operation begins. Returns None for a negative one.
fn place(bytes: &[u8]) -> Option<usize> {
    number(bytes, 0).filter(|at| i32::try_from(*at).is_ok())
}

impl RamFile {
    fn run_or_fail(&mut self, command: &[u8]) -> Reply {
        self.run(command).unwrap_or(Reply::Error("einval"))
    }

    /// None for a command that is cut short or unknown.
    fn run(&mut self, command: &[u8]) -> Option<Reply> {
        let (&op, rest) = command.split_first()?;
        Some(match op {
            1 => {
                let mode = number(rest, 0)?;
                (self.readable, self.writable) = (mode & 1 != 0, mode & 2 != 0);
                self.data = rest[4..].to_vec();
                self.position = 0;
                Reply::Number(0)
            }
            2 => {
                let size = number(rest, 0)?;
                let reply = self.read(self.position, size);
                if let Reply::Data(bytes) = &reply {
                    self.position += bytes.len();
                }
                reply
            }
            3 => {
                // The offset is signed.
                let (offset, origin) = (number(rest, 0)? as u32 as i32 as i64, number(rest, 4)?);
                let base = match origin {
                    0 => 0,
                    1 => self.position as i64,
                    2 => self.data.len() as i64,
                    _ => return None,
                };
                let position = base + offset;
                if position < 0 {
                    return None;
                }
                self.position = position as usize;
                Reply::Number(self.position as u32)
            }
            4 => {
                let reply = self.write(self.position, rest);
                if let Reply::Number(n) = reply {
                    self.position += n as usize;
                }
                reply
            }
            9 | 19 | 38 => Reply::Ok,
            14 => {
                if !self.writable {
                    return Some(Reply::Error("eacces"));
                }
                self.data.resize(self.position.min(SIZE_MAX), 0);
                Reply::Ok
            }
            17 => {
                let (at, size) = (place(rest)?, number(rest, 4)?);
                self.read(at, size)
            }
            18 => self.write(place(rest)?, rest.get(4..)?),
            30 => Reply::Data(self.data.clone()),
            37 => Reply::Number(self.data.len() as u32),
            39 => Reply::Ok,
            _ => return None,
        })
    }

    fn read(&self, at: usize, size: usize) -> Reply {
        if !self.readable {
            return Reply::Error("ebadf");
        }
        let at = at.min(self.data.len());
        let end = at.saturating_add(size).min(self.data.len());
        Reply::Data(self.data[at..end].to_vec())
    }

    fn write(&mut self, at: usize, bytes: &[u8]) -> Reply {
        if !self.writable {
            return Reply::Error("ebadf");
        }
        let end = at.saturating_add(bytes.len());
        if end > SIZE_MAX {
            return Reply::Error("efbig");
        }
        if self.data.len() < end {
            self.data.resize(end, 0);
        }
        self.data[at..end].copy_from_slice(bytes);
        Reply::Number(bytes.len() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_leave_holes_of_zeros_and_reads_stop_at_the_end() {
        let mut file = RamFile::default();
        file.run_or_fail(&[1, 0, 0, 0, 3]);
        assert!(matches!(file.run_or_fail(&[18, 0, 0, 0, 2, b'x']), Reply::Number(1)));
        assert!(matches!(file.run_or_fail(&[2, 0, 0, 0, 9]), Reply::Data(d) if d == [0, 0, b'x']));
        assert!(matches!(file.run_or_fail(&[3, 0]), Reply::Error("einval")));
    }
}
