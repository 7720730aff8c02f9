//! What a client sends and which answer is whole.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    /// The server sends back the bytes of the request, over TCP.
    Echo,
    /// A GET over a connection that is kept, answered with 200 and a content length.
    Http,
    /// The server sends back the datagram.
    Udp,
    /// An echo over TLS.
    Tls,
    /// The same, with a new connection for each request.
    TlsNew,
}

impl Protocol {
    pub fn named(name: &str) -> Option<Protocol> {
        match name {
            "echo" => Some(Protocol::Echo),
            "http" => Some(Protocol::Http),
            "udp" => Some(Protocol::Udp),
            "tls" => Some(Protocol::Tls),
            "tls_new" => Some(Protocol::TlsNew),
            _ => None,
        }
    }

    pub fn request(self, bytes: usize) -> Vec<u8> {
        match self {
            Protocol::Http => b"GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: heddle-load\r\nAccept: */*\r\n\r\n".to_vec(),
            // A period that no power of two divides: a piece in the wrong place shows.
            _ => (0..bytes).map(|at| (at % 251) as u8).collect(),
        }
    }

    /// Looks at what has come of an answer. Returns its length once that is known, or why it is wrong.
    pub fn answer_length(self, request: &[u8], got: &[u8]) -> Result<Option<usize>, String> {
        match self {
            Protocol::Http => http_length(got),
            _ if got.len() > request.len() => Err("more bytes came back than were sent".into()),
            _ => Ok(Some(request.len())),
        }
    }

    /// True if a whole answer is the right one.
    pub fn is_right(self, request: &[u8], answer: &[u8]) -> bool {
        match self {
            Protocol::Http => answer.starts_with(b"HTTP/1.1 200 "),
            _ => answer == request,
        }
    }
}

fn http_length(got: &[u8]) -> Result<Option<usize>, String> {
    let Some(end) = got.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&got[..end]).map_err(|_| "the head of the answer is no text".to_string())?;
    let length = head.lines().filter_map(|line| line.split_once(':')).find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let (_, length) = length.ok_or_else(|| format!("no content length in {head}"))?;
    let body: usize = length.trim().parse().map_err(|_| format!("content length {length}"))?;
    Ok(Some(end + 4 + body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_http_answer_is_whole_with_its_body() {
        let answer = b"HTTP/1.1 200 OK\r\ncontent-LENGTH: 5\r\n\r\nhello";
        for end in 0..37 {
            assert_eq!(Protocol::Http.answer_length(b"", &answer[..end]), Ok(None));
        }
        assert_eq!(Protocol::Http.answer_length(b"", &answer[..38]), Ok(Some(answer.len())));
        assert!(Protocol::Http.is_right(b"", answer));
        assert!(!Protocol::Http.is_right(b"", b"HTTP/1.1 500 No\r\n\r\n"));
        assert!(Protocol::Http.answer_length(b"", b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }

    #[test]
    fn an_echo_is_the_same_bytes() {
        let request = Protocol::Echo.request(300);
        assert_eq!(Protocol::Echo.answer_length(&request, &request[..10]), Ok(Some(300)));
        assert!(Protocol::Echo.is_right(&request, &request));
        let mut other = request.clone();
        other[299] ^= 1;
        assert!(!Protocol::Echo.is_right(&request, &other));
        assert!(Protocol::Echo.answer_length(&request[..10], &request).is_err());
    }
}
