//! Strings with parameters (terminfo(5), "Parameterized Strings"): a small stack machine.

/// Evaluates `text`, whose parameters are `values` (`%p1` is the first; missing ones are 0).
pub fn expand(text: &[u8], values: &[i64]) -> Vec<u8> {
    let mut parameters = [0i64; 9];
    let n = values.len().min(9);
    parameters[..n].copy_from_slice(&values[..n]);
    Machine { text, at: 0, parameters, stack: Vec::new(), variables: [0; 52], next: 0, named: contains_push(text), out: Vec::new() }.run()
}

/// True if the string uses `%p`. Old termcap strings do not: there `%d` takes the next parameter itself.
fn contains_push(text: &[u8]) -> bool {
    text.windows(2).any(|w| w == b"%p")
}

struct Machine<'a> {
    text: &'a [u8],
    at: usize,
    parameters: [i64; 9],
    stack: Vec<i64>,
    variables: [i64; 52],
    next: usize,
    named: bool,
    out: Vec<u8>,
}

fn variable(name: u8) -> Option<usize> {
    match name {
        b'a'..=b'z' => Some((name - b'a') as usize),
        b'A'..=b'Z' => Some((name - b'A') as usize + 26),
        _ => None,
    }
}

impl Machine<'_> {
    fn byte(&mut self) -> Option<u8> {
        let b = self.text.get(self.at).copied();
        self.at += 1;
        b
    }

    fn pop(&mut self) -> i64 {
        if self.named || !self.stack.is_empty() {
            return self.stack.pop().unwrap_or(0);
        }
        self.next += 1;
        self.parameters.get(self.next - 1).copied().unwrap_or(0)
    }

    fn binary(&mut self, f: impl FnOnce(i64, i64) -> i64) {
        let (b, a) = (self.pop(), self.pop());
        self.stack.push(f(a, b));
    }

    fn run(mut self) -> Vec<u8> {
        while let Some(b) = self.byte() {
            if b != b'%' {
                self.out.push(b);
            } else if self.operation().is_none() {
                break;
            }
        }
        self.out
    }

    fn operation(&mut self) -> Option<()> {
        let op = self.byte()?;
        match op {
            b'%' => self.out.push(b'%'),
            b'c' => {
                let c = self.pop();
                self.out.push(c as u8);
            }
            b'p' => {
                let n = self.byte()?.wrapping_sub(b'1') as usize;
                self.stack.push(self.parameters.get(n).copied().unwrap_or(0));
            }
            b'P' => {
                let slot = variable(self.byte()?)?;
                self.variables[slot] = self.pop();
            }
            b'g' => {
                let slot = variable(self.byte()?)?;
                self.stack.push(self.variables[slot]);
            }
            b'\'' => {
                let c = self.byte()?;
                self.byte()?;
                self.stack.push(c.into());
            }
            b'{' => {
                let mut n: i64 = 0;
                loop {
                    match self.byte()? {
                        b'}' => break,
                        d @ b'0'..=b'9' => n = n.wrapping_mul(10).wrapping_add((d - b'0').into()),
                        _ => return None,
                    }
                }
                self.stack.push(n);
            }
            b'l' => {
                let n = self.pop();
                self.stack.push(n.to_string().len() as i64);
            }
            b'i' => {
                self.parameters[0] += 1;
                self.parameters[1] += 1;
            }
            b'+' => self.binary(i64::wrapping_add),
            b'-' => self.binary(i64::wrapping_sub),
            b'*' => self.binary(i64::wrapping_mul),
            b'/' => self.binary(|a, b| if b == 0 { 0 } else { a.wrapping_div(b) }),
            b'm' => self.binary(|a, b| if b == 0 { 0 } else { a.wrapping_rem(b) }),
            b'&' => self.binary(|a, b| a & b),
            b'|' => self.binary(|a, b| a | b),
            b'^' => self.binary(|a, b| a ^ b),
            b'=' => self.binary(|a, b| (a == b).into()),
            b'<' => self.binary(|a, b| (a < b).into()),
            b'>' => self.binary(|a, b| (a > b).into()),
            b'A' => self.binary(|a, b| (a != 0 && b != 0).into()),
            b'O' => self.binary(|a, b| (a != 0 || b != 0).into()),
            b'!' => {
                let a = self.pop();
                self.stack.push((a == 0).into());
            }
            b'~' => {
                let a = self.pop();
                self.stack.push(!a);
            }
            b'?' | b';' => {}
            b't' => {
                if self.pop() == 0 {
                    self.skip(true);
                }
            }
            b'e' => self.skip(false),
            _ => {
                self.at -= 1;
                self.formatted()?;
            }
        }
        Some(())
    }

    /// Skips to the matching `%;`, or (after a condition that failed) to the `%e` before it.
    fn skip(&mut self, stop_at_else: bool) {
        let mut depth = 0;
        while let Some(b) = self.byte() {
            if b != b'%' {
                continue;
            }
            match self.byte() {
                Some(b'?') => depth += 1,
                Some(b';') if depth == 0 => return,
                Some(b';') => depth -= 1,
                Some(b'e') if depth == 0 && stop_at_else => return,
                Some(b'\'') => self.at += 2,
                _ => {}
            }
        }
    }

    /// `%[[:]flags][width[.precision]][doxXs]`
    fn formatted(&mut self) -> Option<()> {
        let (mut left, mut plus, mut space, mut alternate, mut zero) = (false, false, false, false, false);
        let mut b = self.byte()?;
        if b == b':' {
            b = self.byte()?;
        }
        loop {
            match b {
                b'-' => left = true,
                b'+' => plus = true,
                b' ' => space = true,
                b'#' => alternate = true,
                b'0' => zero = true,
                _ => break,
            }
            b = self.byte()?;
        }
        let number = |m: &mut Self, b: &mut u8| -> Option<usize> {
            let mut n = 0usize;
            while b.is_ascii_digit() {
                n = (n * 10 + (*b - b'0') as usize).min(10_000);
                *b = m.byte()?;
            }
            Some(n)
        };
        let width = number(self, &mut b)?;
        let mut precision = None;
        if b == b'.' {
            b = self.byte()?;
            precision = Some(number(self, &mut b)?);
        }
        if !matches!(b, b'd' | b'o' | b'x' | b'X' | b's') {
            return None;
        }
        let value = self.pop();
        let mut digits = match b {
            b'o' => format!("{value:o}"),
            b'x' => format!("{value:x}"),
            b'X' => format!("{value:X}"),
            _ => value.unsigned_abs().to_string(),
        };
        if let Some(p) = precision
            && digits.len() < p
        {
            digits.insert_str(0, &"0".repeat(p - digits.len()));
        }
        let signed = matches!(b, b'd' | b's');
        let sign = match () {
            _ if signed && value < 0 => "-",
            _ if signed && plus => "+",
            _ if signed && space => " ",
            _ if alternate && b == b'o' => "0",
            _ if alternate && b == b'x' => "0x",
            _ if alternate && b == b'X' => "0X",
            _ => "",
        };
        let fill = width.saturating_sub(sign.len() + digits.len());
        let text = match () {
            _ if left => format!("{sign}{digits}{}", " ".repeat(fill)),
            _ if zero && precision.is_none() => format!("{sign}{}{digits}", "0".repeat(fill)),
            _ => format!("{}{sign}{digits}", " ".repeat(fill)),
        };
        self.out.extend(text.into_bytes());
        Some(())
    }
}

#[cfg(test)]
mod tests {
    fn expand(text: &str, values: &[i64]) -> String {
        String::from_utf8(super::expand(text.as_bytes(), values)).unwrap()
    }

    #[test]
    fn numbers() {
        assert_eq!(expand("\x1b[%i%p1%d;%p2%dH", &[4, 9]), "\x1b[5;10H");
        assert_eq!(expand("[%p1%3d|%p1%03d|%p1%:-4d|%p1%.4d|%p1%:+d|%p1%x|%p1%#X|%p1%o]", &[26]), "[ 26|026|26  |0026|+26|1a|0X1A|32]");
        assert_eq!(expand("100%%%p1%c", &[65]), "100%A");
    }

    #[test]
    fn arithmetic_and_variables() {
        assert_eq!(expand("%p1%{7}%+%{3}%m%d", &[4]), "2");
        assert_eq!(expand("%p1%Pa%ga%ga%*%d", &[12]), "144");
        assert_eq!(expand("%'a'%p1%+%c", &[2]), "c");
        assert_eq!(expand("%p1%{0}%/%d", &[2]), "0");
        assert_eq!(expand("%p1%p2%<%p1%p2%>%O%d", &[2, 2]), "0");
        assert_eq!(expand("%p1%!%~%d", &[0]), "-2");
    }

    #[test]
    fn conditions() {
        let setaf = "\x1b[%?%p1%{8}%<%t3%p1%d%e%p1%{16}%<%t9%p1%{8}%-%d%e38;5;%p1%d%;m";
        assert_eq!(expand(setaf, &[3]), "\x1b[33m");
        assert_eq!(expand(setaf, &[12]), "\x1b[94m");
        assert_eq!(expand(setaf, &[200]), "\x1b[38;5;200m");
        assert_eq!(expand("%?%p1%t%?%p2%tboth%eone%;%enone%;.", &[1, 0]), "one.");
        assert_eq!(expand("%?%p1%tA%;%?%p2%tB%;", &[0, 1]), "B");
    }

    #[test]
    fn old_strings_and_broken_ones() {
        assert_eq!(expand("\x1b[%i%d;%dR", &[3, 4]), "\x1b[4;5R");
        for broken in ["%", "%p", "%{12", "%'", "%5", "%:", "%q", "%;", "%d%d%d", "%?%t"] {
            super::expand(broken.as_bytes(), &[1]);
        }
    }
}
