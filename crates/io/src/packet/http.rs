//! Lines of HTTP as terms: `{http_request, ..}`, `{http_response, ..}`, `{http_header, ..}`, `http_eoh`, `{http_error, ..}`.

use heddle_term::{Atom, Heap, Term, am};

/// Header names that come as atoms; their place in this list is their number.
const HEADERS: &[&str] = &[
    "Cache-Control",
    "Connection",
    "Date",
    "Pragma",
    "Transfer-Encoding",
    "Upgrade",
    "Via",
    "Accept",
    "Accept-Charset",
    "Accept-Encoding",
    "Accept-Language",
    "Authorization",
    "From",
    "Host",
    "If-Modified-Since",
    "If-Match",
    "If-None-Match",
    "If-Range",
    "If-Unmodified-Since",
    "Max-Forwards",
    "Proxy-Authorization",
    "Range",
    "Referer",
    "User-Agent",
    "Age",
    "Location",
    "Proxy-Authenticate",
    "Public",
    "Retry-After",
    "Server",
    "Vary",
    "Warning",
    "Www-Authenticate",
    "Allow",
    "Content-Base",
    "Content-Encoding",
    "Content-Language",
    "Content-Length",
    "Content-Location",
    "Content-Md5",
    "Content-Range",
    "Content-Type",
    "Etag",
    "Expires",
    "Last-Modified",
    "Accept-Ranges",
    "Set-Cookie",
    "Set-Cookie2",
    "X-Forwarded-For",
    "Cookie",
    "Keep-Alive",
    "Proxy-Connection",
];

const METHODS: &[&str] = &["OPTIONS", "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE"];

/// Longer names keep their letters as they are.
const MAX_CAPITALISED_BYTES: usize = 50;

struct Builder<'a> {
    heap: &'a mut Heap,
    binary_strings: bool,
}

/// One line (with its end) as a term.
pub fn parse(heap: &mut Heap, line: &[u8], is_header: bool, binary_strings: bool) -> Term {
    let mut builder = Builder { heap, binary_strings };
    // The byte after a carriage return is dropped too, whatever it is: mostly a line feed.
    let text = match line {
        [text @ .., b'\r', _] | [text @ .., b'\n'] => text,
        _ => line,
    };
    let parsed = if is_header {
        if text.is_empty() {
            return Atom::new("http_eoh").into();
        }
        builder.header(text)
    } else if text.starts_with(b"HTTP/") {
        builder.response(text)
    } else {
        builder.request(text)
    };
    parsed.unwrap_or_else(|| {
        let line = builder.string(line);
        builder.tuple("http_error", &[line])
    })
}

fn skip_blanks(text: &[u8]) -> &[u8] {
    let count = text.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    &text[count..]
}

fn split_at_blank(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|b| matches!(b, b' ' | b'\t')).unwrap_or(text.len());
    text.split_at(end)
}

/// Takes digits from the front, maybe none. Returns them as a number of 32 bits, which wraps around as in stock, and what follows.
fn digits(text: &[u8]) -> (i64, &[u8]) {
    let count = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let value = text[..count].iter().fold(0i32, |n, b| n.wrapping_mul(10).wrapping_add((b - b'0').into()));
    (value.into(), &text[count..])
}

/// The same, but None if there is no digit.
fn number(text: &[u8]) -> Option<(i64, &[u8])> {
    text.first().filter(|b| b.is_ascii_digit()).map(|_| digits(text))
}

/// Takes `HTTP/Major.Minor` from the front.
fn version(text: &[u8]) -> Option<((i64, i64), &[u8])> {
    let (major, rest) = number(text.strip_prefix(b"HTTP/")?)?;
    let (minor, rest) = number(rest.strip_prefix(b".")?)?;
    Some(((major, minor), rest))
}

/// Bytes of the shortest version that a request may name.
const MIN_VERSION_BYTES: usize = b"HTTP/1.1".len();

fn is_token(byte: u8) -> bool {
    byte > 32 && byte < 128 && !b"()<>@,;:\\\"/[]?={}".contains(&byte)
}

/// The name with a capital at the start and after each hyphen, small letters elsewhere. A hyphen where a capital was due
/// takes its place, so a letter after two of them is small.
fn capitalised(name: &[u8]) -> Vec<u8> {
    let mut start = true;
    let word = |&byte: &u8| {
        let letter = if start { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() };
        start = byte == b'-' && !start;
        letter
    };
    name.iter().map(word).collect()
}

impl Builder<'_> {
    fn string(&mut self, bytes: &[u8]) -> Term {
        if self.binary_strings { self.heap.binary(bytes) } else { self.heap.byte_list(bytes) }
    }

    fn tuple(&mut self, tag: &str, elements: &[Term]) -> Term {
        let mut all = vec![Atom::new(tag).into()];
        all.extend_from_slice(elements);
        self.heap.tuple(&all)
    }

    fn version(&mut self, (major, minor): (i64, i64)) -> Term {
        self.heap.tuple(&[Term::small(major), Term::small(minor)])
    }

    fn request(&mut self, text: &[u8]) -> Option<Term> {
        let (method, rest) = split_at_blank(text);
        if method.is_empty() || rest.is_empty() || !method.iter().all(|&b| is_token(b)) {
            return None;
        }
        let (target, rest) = split_at_blank(skip_blanks(rest));
        if target.is_empty() {
            return None;
        }
        let rest = skip_blanks(rest);
        let numbers = if rest.is_empty() {
            (0, 9)
        } else {
            // What follows the version is ignored.
            version(rest).filter(|_| rest.len() >= MIN_VERSION_BYTES)?.0
        };
        let method = match METHODS.iter().find(|m| m.as_bytes() == method) {
            Some(known) => Atom::new(known).into(),
            None => self.string(method),
        };
        let target = self.target(target);
        let version = self.version(numbers);
        Some(self.tuple("http_request", &[method, target, version]))
    }

    fn target(&mut self, target: &[u8]) -> Term {
        if target == b"*" {
            return Atom::new("*").into();
        }
        if target.len() == 1 || target[0] == b'/' {
            let path = self.string(target);
            return self.tuple("abs_path", &[path]);
        }
        for scheme in ["http", "https"] {
            let prefix = scheme.len() + 3;
            if target.len() >= prefix
                && target[..scheme.len()].eq_ignore_ascii_case(scheme.as_bytes())
                && &target[scheme.len()..prefix] == b"://"
            {
                return self.absolute(scheme, &target[prefix..]);
            }
        }
        match target.iter().position(|&b| b == b':') {
            Some(colon) => {
                let scheme = self.string(&target[..colon]);
                let rest = self.string(&target[colon + 1..]);
                self.tuple("scheme", &[scheme, rest])
            }
            None => self.string(target),
        }
    }

    fn absolute(&mut self, scheme: &str, rest: &[u8]) -> Term {
        let (authority, path) = rest.split_at(rest.iter().position(|&b| b == b'/').unwrap_or(rest.len()));
        let colon = authority.iter().position(|&b| b == b':');
        let bracket = authority.iter().position(|&b| b == b']').filter(|_| authority[0] == b'[');
        let (host, port) = match (colon, bracket) {
            (None, _) => (authority, None),
            // The colons inside the brackets of an IPv6 address do not begin a port. Text that follows the brackets without a colon is dropped.
            (_, Some(bracket)) => {
                let last = authority.iter().rposition(|&b| b == b':');
                (&authority[..=bracket], last.filter(|&at| at == bracket + 1).map(|at| &authority[at + 1..]))
            }
            (Some(colon), None) => (&authority[..colon], Some(&authority[colon + 1..])),
        };
        let port = port.map(digits).filter(|(port, rest)| rest.is_empty() && *port != 0).map(|(port, _)| port);
        let host = self.string(host);
        let port = port.map_or(am::UNDEFINED.into(), Term::small);
        let path = self.string(if path.is_empty() { b"/" } else { path });
        self.tuple("absoluteURI", &[Atom::new(scheme).into(), host, port, path])
    }

    fn response(&mut self, text: &[u8]) -> Option<Term> {
        let (numbers, rest) = version(text)?;
        let after = skip_blanks(rest);
        if after.len() == rest.len() {
            return None;
        }
        let (status, rest) = digits(after);
        let phrase = skip_blanks(rest);
        if !rest.is_empty() && phrase.len() == rest.len() {
            return None;
        }
        let version = self.version(numbers);
        let phrase = self.string(phrase);
        Some(self.tuple("http_response", &[version, Term::small(status), phrase]))
    }

    fn header(&mut self, text: &[u8]) -> Option<Term> {
        let colon = text.iter().position(|&b| !is_token(b)).filter(|&at| text[at] == b':')?;
        let name = &text[..colon];
        let value = skip_blanks(&text[colon + 1..]);
        let known = HEADERS.iter().position(|h| h.as_bytes().eq_ignore_ascii_case(name));
        let field = match known {
            Some(index) => Atom::new(HEADERS[index]).into(),
            None if name.len() <= MAX_CAPITALISED_BYTES => self.string(&capitalised(name)),
            None => self.string(name),
        };
        let number = Term::small(known.map_or(0, |index| index as i64 + 1));
        let name = self.string(name);
        let value = self.string(value);
        Some(self.tuple("http_header", &[number, field, name, value]))
    }
}
