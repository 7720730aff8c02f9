//! What a node or program asks. A request has its length in two bytes in front; numbers are big endian (OTP's document "Distribution Protocol").

/// Longest name: 255 characters.
const MAX_NAME_BYTES: usize = 4 * 255;

#[derive(Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// `ALIVE2_REQ`
    Register { port: u16, kind: u8, protocol: u8, highest: u16, lowest: u16, name: &'a [u8], extra: &'a [u8] },
    /// `PORT_PLEASE2_REQ`
    Lookup(&'a [u8]),
    /// `NAMES_REQ`
    Names,
    /// `DUMP_REQ`
    Dump,
    /// `KILL_REQ`
    Kill,
    /// `STOP_REQ`
    Stop(&'a [u8]),
}

/// The bytes of a request without its length; None if there is no such request.
pub fn parse(bytes: &[u8]) -> Option<Request<'_>> {
    let (&tag, rest) = bytes.split_first()?;
    let name = |bytes: &'_ [u8]| (!bytes.is_empty() && bytes.len() <= MAX_NAME_BYTES && !bytes.contains(&0)).then_some(());
    Some(match tag {
        120 => {
            let mut rest = Fields(rest);
            let (port, kind, protocol) = (rest.u16()?, rest.u8()?, rest.u8()?);
            let (highest, lowest) = (rest.u16()?, rest.u16()?);
            let called = rest.text()?;
            name(called)?;
            let extra = rest.text()?;
            Request::Register { port, kind, protocol, highest, lowest, name: called, extra }
        }
        122 => {
            name(rest)?;
            Request::Lookup(rest)
        }
        110 => Request::Names,
        100 => Request::Dump,
        107 => Request::Kill,
        115 => {
            name(rest)?;
            Request::Stop(rest)
        }
        _ => return None,
    })
}

struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
    fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }
    fn u16(&mut self) -> Option<u16> {
        self.take(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }
    /// Bytes with their length in two bytes in front.
    fn text(&mut self) -> Option<&'a [u8]> {
        let len = self.u16()?;
        self.take(len as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_end_early_are_none() {
        let whole = [120, 0x12, 0x34, 77, 0, 0, 6, 0, 5, 0, 3, b'a', b'b', b'c', 0, 1, 9];
        let expected = Request::Register { port: 0x1234, kind: 77, protocol: 0, highest: 6, lowest: 5, name: b"abc", extra: &[9] };
        assert_eq!(parse(&whole), Some(expected));
        assert!((0..whole.len()).all(|len| parse(&whole[..len]).is_none()));
        assert_eq!(parse(b"zabc"), Some(Request::Lookup(b"abc")));
        assert_eq!(parse(b"z"), None);
        assert_eq!(parse(b"?"), None);
        assert_eq!(parse(&[&b"z"[..], &[b'a'; 2000]].concat()), None);
    }
}
