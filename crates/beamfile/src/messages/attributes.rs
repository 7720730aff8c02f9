//! Which behaviours a module declares: read from the attributes, a list of pairs in the external term format.

/// Calls `found` with the name of each behaviour. Stops quietly at what it cannot read: then there are fewer.
pub(super) fn behaviours<'a>(attributes: &'a [u8], mut found: impl FnMut(&'a [u8])) {
    let mut reader = Terms(attributes);
    let _ = reader.attributes(&mut found);
}

struct Terms<'a>(&'a [u8]);

/// Tags of the format.
const VERSION: u8 = 131;
const LIST: u8 = 108;
const SMALL_TUPLE: u8 = 104;

impl<'a> Terms<'a> {
    fn attributes(&mut self, found: &mut impl FnMut(&'a [u8])) -> Option<()> {
        if self.byte()? != VERSION || self.byte()? != LIST {
            return None;
        }
        for _ in 0..self.u32()? {
            if self.byte()? != SMALL_TUPLE || self.byte()? != 2 {
                return None;
            }
            match self.atom()? {
                b"behaviour" | b"behavior" => self.names(found)?,
                _ => self.skip()?,
            }
        }
        Some(())
    }

    fn names(&mut self, found: &mut impl FnMut(&'a [u8])) -> Option<()> {
        if self.byte()? != LIST {
            return None;
        }
        for _ in 0..self.u32()? {
            found(self.atom()?);
        }
        self.skip()
    }

    fn atom(&mut self) -> Option<&'a [u8]> {
        let size = match self.byte()? {
            119 | 115 => self.byte()?.into(),
            118 | 100 => self.u16()?,
            _ => return None,
        };
        self.bytes(size)
    }

    /// One term of a kind that attributes are made of.
    fn skip(&mut self) -> Option<()> {
        let mut terms = 1usize;
        while terms > 0 {
            terms -= 1;
            let (bytes, parts) = match self.byte()? {
                97 => (1, 0),
                98 => (4, 0),
                70 => (8, 0),
                106 => (0, 0),
                115 | 119 => (self.byte()?.into(), 0),
                100 | 118 | 107 => (self.u16()?, 0),
                109 => (self.u32()?, 0),
                77 => (self.u32()?.checked_add(1)?, 0),
                110 => (usize::from(self.byte()?) + 1, 0),
                111 => (self.u32()?.checked_add(1)?, 0),
                SMALL_TUPLE => (0, self.byte()?.into()),
                105 => (0, self.u32()?),
                LIST => (0, self.u32()?.checked_add(1)?),
                116 => (0, self.u32()?.checked_mul(2)?),
                _ => return None,
            };
            self.bytes(bytes)?;
            terms = terms.checked_add(parts)?;
        }
        Some(())
    }

    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn byte(&mut self) -> Option<u8> {
        self.bytes(1).map(|bytes| bytes[0])
    }

    fn u16(&mut self) -> Option<usize> {
        self.bytes(2).map(|bytes| usize::from(bytes[0]) << 8 | usize::from(bytes[1]))
    }

    fn u32(&mut self) -> Option<usize> {
        Some(self.u16()? << 16 | self.u16()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(attributes: &[u8]) -> Vec<&str> {
        let mut names = Vec::new();
        behaviours(attributes, |name| names.push(std::str::from_utf8(name).unwrap()));
        names
    }

    /// `term_to_binary([{vsn, [1 bsl 100]}, {x, [{a, "bc", <<1>>, 2.0, #{k => [v | w]}, 300}]}, {behaviour, [gen_server]}, {behavior, [b]}])`
    /// of OTP 27.
    const ATTRIBUTES: &[u8] = &[
        131, 108, 0, 0, 0, 4, 104, 2, 119, 3, 118, 115, 110, 108, 0, 0, 0, 1, 110, 13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 106, 104,
        2, 119, 1, 120, 108, 0, 0, 0, 1, 104, 6, 119, 1, 97, 107, 0, 2, 98, 99, 109, 0, 0, 0, 1, 1, 70, 64, 0, 0, 0, 0, 0, 0, 0, 116, 0, 0,
        0, 1, 119, 1, 107, 108, 0, 0, 0, 1, 119, 1, 118, 119, 1, 119, 98, 0, 0, 1, 44, 106, 104, 2, 119, 9, 98, 101, 104, 97, 118, 105,
        111, 117, 114, 108, 0, 0, 0, 1, 119, 10, 103, 101, 110, 95, 115, 101, 114, 118, 101, 114, 106, 104, 2, 119, 8, 98, 101, 104, 97,
        118, 105, 111, 114, 108, 0, 0, 0, 1, 119, 1, 98, 106, 106,
    ];

    #[test]
    fn behaviours_are_found_between_other_attributes() {
        assert_eq!(names(ATTRIBUTES), ["gen_server", "b"]);
    }

    #[test]
    fn damage_ends_the_search() {
        assert!(names(&[]).is_empty());
        for cut in 0..ATTRIBUTES.len() {
            assert!(names(&ATTRIBUTES[..cut]).len() <= 2);
        }
        let mut huge = ATTRIBUTES.to_vec();
        huge[2..6].fill(255);
        assert_eq!(names(&huge), ["gen_server", "b"]);
    }
}
