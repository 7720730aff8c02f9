//! A request of `port_control`, from the front of which values are taken.

use super::reason::Reason;

pub struct Request<'a>(pub &'a [u8]);

impl<'a> Request<'a> {
    pub fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }
    /// Two bytes, the most significant first.
    pub fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.bytes(2)?.try_into().ok()?))
    }
    /// Four bytes, the most significant first.
    pub fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.bytes(4)?.try_into().ok()?))
    }
    pub fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(first)
    }
    /// A length of one byte, and that many bytes.
    pub fn name(&mut self) -> Option<&'a [u8]> {
        let len = self.byte()?;
        self.bytes(len as usize)
    }
}

/// The number at `at`, or `einval` if the request is too short.
pub fn number(data: &[u8], at: usize) -> Result<u32, Reason> {
    data.get(at..).and_then(|rest| Request(rest).number()).ok_or("einval")
}
