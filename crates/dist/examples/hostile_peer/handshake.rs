//! The handshake of version 6, from the side that begins: right, or as one wishes.

use heddle_model::Random;
use md5::{Digest, Md5};
use std::io::{Error, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// What a node offers that can do all (as ERTS 15).
pub const ALL_FLAGS: u64 = 0xd_07df_7fbc;
pub const FLAG_PUBLISHED: u64 = 1;

/// What the peer says in the handshake. `Wish::right` is what it must say.
#[derive(Clone)]
pub struct Wish {
    pub name: Vec<u8>,
    pub creation: u32,
    pub flags: u64,
    pub cookie: String,
    /// The answer if the node has a connection to this name already.
    pub answer_alive: &'static str,
    /// The form of OTP 22 and older.
    pub is_old: bool,
}

/// How a handshake ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ending {
    /// The connection is up, with the flags that both have.
    Up { flags: u64, creation: u32 },
    /// The node has, or is making, a connection to this name.
    NotNow(String),
    /// The node said something else, or closed.
    Refused(String),
}

impl Wish {
    pub fn right(name: &str, creation: u32, flags: u64, cookie: &str) -> Wish {
        Wish { name: name.into(), creation, flags, cookie: cookie.into(), answer_alive: "true", is_old: false }
    }

    /// The first message, without its length.
    pub fn send_name(&self) -> Vec<u8> {
        let mut message = Vec::new();
        if self.is_old {
            message.push(b'n');
            message.extend_from_slice(&5u16.to_be_bytes());
            message.extend_from_slice(&(self.flags as u32).to_be_bytes());
        } else {
            message.push(b'N');
            message.extend_from_slice(&self.flags.to_be_bytes());
            message.extend_from_slice(&self.creation.to_be_bytes());
            message.extend_from_slice(&(self.name.len() as u16).to_be_bytes());
        }
        message.extend_from_slice(&self.name);
        message
    }

    /// The whole handshake. Error: the connection broke, or the node was silent for longer than the stream waits.
    pub fn make(&self, stream: &mut TcpStream, random: &mut Random) -> Result<Ending, Error> {
        send(stream, &self.send_name())?;
        let (challenge, flags, creation) = match self.status_and_challenge(stream)? {
            Ok(challenge) => challenge,
            Err(ending) => return Ok(ending),
        };
        if self.is_old {
            let mut complement = vec![b'c'];
            complement.extend_from_slice(&((self.flags >> 32) as u32).to_be_bytes());
            complement.extend_from_slice(&self.creation.to_be_bytes());
            send(stream, &complement)?;
        }
        let mine = random.bits() as u32;
        send(stream, &reply(mine, digest(&self.cookie, challenge)))?;
        let ack = receive(stream)?;
        if ack.len() != 17 || ack[0] != b'a' || ack[1..] != digest(&self.cookie, mine) {
            return Ok(Ending::Refused(format!("{ack:?} instead of an acknowledgement")));
        }
        Ok(Ending::Up { flags: flags & self.flags, creation })
    }

    /// Reads the status, and the challenge with the node's flags and creation.
    pub fn status_and_challenge(&self, stream: &mut TcpStream) -> Result<Result<(u32, u64, u32), Ending>, Error> {
        let status = receive(stream)?;
        let text = String::from_utf8_lossy(status.get(1..).unwrap_or_default()).into_owned();
        match text.as_str() {
            _ if status.first() != Some(&b's') => return Ok(Err(Ending::Refused(format!("{status:?} instead of a status")))),
            "ok" | "ok_simultaneous" => {}
            "alive" => {
                let mut answer = vec![b's'];
                answer.extend_from_slice(self.answer_alive.as_bytes());
                send(stream, &answer)?;
            }
            "nok" => return Ok(Err(Ending::NotNow(text))),
            _ if text.starts_with("named:") => {}
            _ => return Ok(Err(Ending::Refused(text))),
        }
        let challenge = match receive(stream) {
            Ok(_) if text == "alive" && self.answer_alive != "true" => {
                return Ok(Err(Ending::Refused(format!("a challenge after `{}` to `alive`", self.answer_alive))));
            }
            Ok(challenge) => challenge,
            // It waits until the other connection of this name ends.
            Err(_) if text == "alive" => return Ok(Err(Ending::NotNow(text))),
            Err(error) => return Err(error),
        };
        if challenge.len() < 19 || challenge[0] != b'N' {
            return Ok(Err(Ending::Refused(format!("{challenge:?} instead of a challenge"))));
        }
        let number = |from: usize, to: usize| challenge[from..to].iter().fold(0u64, |number, &byte| number << 8 | byte as u64);
        Ok(Ok((number(9, 13) as u32, number(1, 9), number(13, 17) as u32)))
    }
}

/// The message that shows that the peer has the cookie.
pub fn reply(challenge: u32, digest: [u8; 16]) -> Vec<u8> {
    let mut message = vec![b'r'];
    message.extend_from_slice(&challenge.to_be_bytes());
    message.extend_from_slice(&digest);
    message
}

pub fn digest(cookie: &str, challenge: u32) -> [u8; 16] {
    Md5::digest(format!("{cookie}{challenge}")).into()
}

/// Sends a message of the handshake.
pub fn send(stream: &mut TcpStream, message: &[u8]) -> Result<(), Error> {
    let mut bytes = (message.len() as u16).to_be_bytes().to_vec();
    bytes.extend_from_slice(message);
    stream.write_all(&bytes)
}

/// The next message of the node.
pub fn receive(stream: &mut TcpStream) -> Result<Vec<u8>, Error> {
    let mut len = [0; 2];
    stream.read_exact(&mut len)?;
    let mut message = vec![0; u16::from_be_bytes(len) as usize];
    stream.read_exact(&mut message)?;
    Ok(message)
}

/// A connection to the node that gives up reading and writing after `patience`.
pub fn connect(host: &str, port: u16, patience: Duration) -> Result<TcpStream, Error> {
    let stream = TcpStream::connect((host, port))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    Ok(stream)
}

/// True if the node closed the connection, false if time ran out.
pub fn is_closed(error: &Error) -> bool {
    !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}
