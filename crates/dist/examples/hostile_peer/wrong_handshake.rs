//! Handshakes that a node must refuse, or must bear.

use crate::handshake::{ALL_FLAGS, Ending, Wish, connect, digest, is_closed, receive, reply, send};
use crate::target::Target;
use heddle_model::Random;
use std::io::{Error, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// All is right up to some byte, and then the peer goes.
    Cut,
    /// As `Cut`, but it stays, and the node has to go.
    Stays,
    Slow,
    Digest,
    Name,
    NameLength,
    Length,
    Old,
    Flags,
    Tag,
    /// The name of a connection that is there.
    Twice,
    /// Two handshakes with one name at the same time.
    Both,
    /// Packets before the handshake is over.
    Early,
    Noise,
    /// Right, and closed at once.
    Right,
}

const KINDS: &[(Kind, u64)] = &[
    (Kind::Cut, 200),
    (Kind::Stays, 1),
    (Kind::Slow, 1),
    (Kind::Digest, 250),
    (Kind::Name, 150),
    (Kind::NameLength, 80),
    (Kind::Length, 80),
    (Kind::Old, 100),
    (Kind::Flags, 150),
    (Kind::Tag, 100),
    (Kind::Twice, 100),
    (Kind::Both, 100),
    (Kind::Early, 150),
    (Kind::Noise, 150),
    (Kind::Right, 200),
];

pub struct WrongHandshake<'a> {
    pub target: &'a Target,
    pub random: Random,
    pub number: u64,
    pub tells: bool,
}

impl WrongHandshake<'_> {
    /// Makes one. Error: what the node did wrong.
    pub fn run(&mut self) -> Result<(), String> {
        let mut at = self.random.below(KINDS.iter().map(|(_, weight)| weight).sum());
        let &(kind, _) = KINDS.iter().find(|(_, weight)| at.checked_sub(*weight).map(|rest| at = rest).is_none()).unwrap_or(&KINDS[0]);
        if self.tells {
            println!("handshake {kind:?}");
        }
        let done = self.of_kind(kind);
        match done {
            Ok(Some(what)) => Err(format!("handshake {kind:?}: {what}")),
            Ok(None) => Ok(()),
            Err(error) if is_closed(&error) => Ok(()),
            Err(error) => Err(format!("handshake {kind:?}: the node neither answers nor closes: {error}")),
        }
    }

    fn connect(&self) -> Result<TcpStream, Error> {
        connect(&self.target.host, self.target.port, self.target.patience)
    }

    fn wish(&mut self) -> Wish {
        let (name, creation) = (self.target.name(self.number), self.random.bits() as u32);
        let hidden = ALL_FLAGS | self.random.below(2);
        Wish::right(&name, creation, hidden, &self.target.cookie)
    }

    /// What the node did wrong, if it did.
    fn of_kind(&mut self, kind: Kind) -> Result<Option<String>, Error> {
        let mut wish = self.wish();
        let mut stream = self.connect()?;
        match kind {
            Kind::Cut | Kind::Stays => return self.cut(&mut stream, &wish, matches!(kind, Kind::Stays)),
            Kind::Slow => return self.slow(&mut stream, &wish),
            Kind::Digest => return self.wrong_digest(&mut stream, &wish),
            Kind::Name => wish.name = self.odd_name(),
            Kind::Flags => wish.flags = self.odd_flags(),
            Kind::Old => {
                wish.is_old = true;
                if self.random.chance(50) {
                    wish.flags = self.odd_flags();
                }
            }
            Kind::NameLength | Kind::Length | Kind::Tag => return self.malformed(&mut stream, &wish, kind),
            Kind::Twice | Kind::Both => return self.twice(stream, &wish, matches!(kind, Kind::Both)),
            Kind::Early => return self.early(&mut stream, &wish),
            Kind::Noise => {
                for _ in 0..1 + self.random.below(4) {
                    let noise = self.noise();
                    stream.write_all(&noise)?;
                }
                return Ok(None);
            }
            Kind::Right => {}
        }
        wish.make(&mut stream, &mut self.random)?;
        Ok(None)
    }

    fn noise(&mut self) -> Vec<u8> {
        let len = self.random.one(&[1, 2, 3, 20, 300, 70_000]);
        (0..len).map(|_| self.random.bits() as u8).collect()
    }

    /// Up to some byte of the first or the second message of the peer.
    fn cut(&mut self, stream: &mut TcpStream, wish: &Wish, stays: bool) -> Result<Option<String>, Error> {
        let mut first = wish.send_name();
        first.splice(..0, (first.len() as u16).to_be_bytes());
        if self.random.chance(50) {
            first.truncate(self.random.below(first.len() as u64) as usize);
            stream.write_all(&first)?;
        } else {
            stream.write_all(&first)?;
            if self.random.chance(80) {
                let Ok((challenge, ..)) = wish.status_and_challenge(stream)? else { return Ok(None) };
                let mut second = reply(0, digest(&wish.cookie, challenge));
                second.splice(..0, (second.len() as u16).to_be_bytes());
                second.truncate(self.random.below(second.len() as u64) as usize);
                stream.write_all(&second)?;
            }
        }
        if stays { until_closed(stream).map(|()| None) } else { Ok(None) }
    }

    /// A byte at a time. The node may take it, or give up.
    fn slow(&mut self, stream: &mut TcpStream, wish: &Wish) -> Result<Option<String>, Error> {
        let message = wish.send_name();
        let pause = Duration::from_millis(self.random.one(&[1, 20, 300]));
        let begun = Instant::now();
        for byte in (message.len() as u16).to_be_bytes().into_iter().chain(message) {
            stream.write_all(&[byte])?;
            std::thread::sleep(pause);
            if begun.elapsed() > Duration::from_secs(15) {
                break;
            }
        }
        until_closed(stream).map(|()| None)
    }

    /// All is right but for the digest. The node must close, and must not tell its own digest.
    fn wrong_digest(&mut self, stream: &mut TcpStream, wish: &Wish) -> Result<Option<String>, Error> {
        send(stream, &wish.send_name())?;
        let Ok((challenge, ..)) = wish.status_and_challenge(stream)? else { return Ok(None) };
        let mine = self.random.bits() as u32;
        let wrong = match self.random.below(6) {
            0 => [0; 16],
            1 => digest("another", challenge),
            2 => digest("", challenge),
            3 => digest(&wish.cookie, challenge ^ 1),
            4 => digest(&wish.cookie, mine),
            _ => {
                let mut wrong = digest(&wish.cookie, challenge);
                wrong[self.random.below(16) as usize] ^= 1 << self.random.below(8);
                wrong
            }
        };
        let mut message = reply(mine, wrong);
        match self.random.below(10) {
            0 => message.truncate(self.random.below(21) as usize),
            1 => message[0] = self.random.bits() as u8,
            2 => message.extend_from_slice(&[0; 9]),
            _ => {}
        }
        send(stream, &message)?;
        match receive(stream) {
            Ok(answer) => Ok(Some(format!("the node answers {answer:?} to a wrong digest"))),
            Err(error) if is_closed(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn odd_name(&mut self) -> Vec<u8> {
        let host = self.target.host.as_str();
        let few = self.random.below(20);
        let long = self.random.one(&[200, 240, 256, 300, 1000, 30_000, 65_000]);
        match self.random.below(14) {
            0 => Vec::new(),
            1 => b"@".to_vec(),
            2 => format!("no_host{few}").into_bytes(),
            3 => format!("@{host}").into_bytes(),
            4 => format!("a{few}@").into_bytes(),
            5 => format!("a@b@{host}").into_bytes(),
            6 => format!("{}@{host}", "x".repeat(long)).into_bytes(),
            7 => format!("x@{}", "h".repeat(long)).into_bytes(),
            8 => format!("~p~s~n{few}@{host}").into_bytes(),
            9 => format!("a\0\n\r{few}@{host}").into_bytes(),
            10 => [vec![0xff, 0xc3, 0x28], format!("{few}@{host}").into_bytes()].concat(),
            // The node's own, and one that has its first part.
            11 => self.target.node.clone().into_bytes(),
            12 => format!("{}@elsewhere", self.target.node.split('@').next().unwrap_or_default()).into_bytes(),
            _ => vec![b'@'; long],
        }
    }

    fn odd_flags(&mut self) -> u64 {
        match self.random.below(6) {
            0 => 0,
            1 => u64::MAX,
            2 => self.random.bits(),
            3 => ALL_FLAGS & !(1 << self.random.below(40)),
            // The node is asked for a name: it is one of a few, as the node makes an atom of it.
            4 => ALL_FLAGS | 0x2_0000_0000,
            _ => ALL_FLAGS & 0xffff_ffff,
        }
    }

    fn malformed(&mut self, stream: &mut TcpStream, wish: &Wish, kind: Kind) -> Result<Option<String>, Error> {
        let mut message = wish.send_name();
        let mut len = message.len() as u16;
        match kind {
            Kind::NameLength => {
                let claimed = self.random.one(&[0, 1, wish.name.len() as u16 - 1, wish.name.len() as u16 + 1, 255, 256, u16::MAX]);
                message[13..15].copy_from_slice(&claimed.to_be_bytes());
            }
            Kind::Length => len = self.random.one(&[0, 1, 5, 14, len - 1, len + 1, 1000, u16::MAX]),
            _ => message[0] = self.random.bits() as u8,
        }
        stream.write_all(&len.to_be_bytes())?;
        stream.write_all(&message)?;
        if len as usize > message.len() {
            return Ok(None);
        }
        // The node closes, or what it got makes sense to it as well.
        let _ = receive(stream)?;
        Ok(None)
    }

    /// The same name from two connections.
    fn twice(&mut self, mut first: TcpStream, wish: &Wish, both: bool) -> Result<Option<String>, Error> {
        let mut second_wish = wish.clone();
        second_wish.answer_alive = self.random.one(&["true", "false", "", "perhaps"]);
        second_wish.creation ^= self.random.below(2) as u32;
        let mut second = self.connect()?;
        // The node may wait for the end of the first before it answers the second.
        second.set_read_timeout(Some(Duration::from_millis(self.random.one(&[1, 50]))))?;
        if both {
            send(&mut first, &wish.send_name())?;
            send(&mut second, &second_wish.send_name())?;
            let _ = second_wish.status_and_challenge(&mut second);
            if self.random.chance(50) {
                drop(second);
            }
            let _ = wish.status_and_challenge(&mut first)?;
            return Ok(None);
        }
        if !matches!(wish.make(&mut first, &mut self.random)?, Ending::Up { .. }) {
            return Ok(None);
        }
        let ending = second_wish.make(&mut second, &mut self.random);
        if self.random.chance(50) {
            drop(first);
        }
        match ending {
            Ok(Ending::Refused(what)) if what.starts_with("a challenge after") => Ok(Some(what)),
            _ => Ok(None),
        }
    }

    /// Packets of an established connection at any time before it is one.
    fn early(&mut self, stream: &mut TcpStream, wish: &Wish) -> Result<Option<String>, Error> {
        let packet = [&[0u8, 0, 0, 14][..], &[131, 68, 0, 104, 4, 97, 6, 106, 106, 119, 1, b'x', 106, 106]].concat();
        if self.random.chance(30) {
            stream.write_all(&packet)?;
        }
        send(stream, &wish.send_name())?;
        if self.random.chance(30) {
            stream.write_all(&packet)?;
        }
        let Ok((challenge, ..)) = wish.status_and_challenge(stream)? else { return Ok(None) };
        let wrong = if self.random.chance(50) { 1 } else { 0 };
        let mine = self.random.bits() as u32;
        send(stream, &reply(mine, digest(&wish.cookie, challenge ^ wrong)))?;
        // Directly after the digest, so that the node reads both with one system call.
        stream.write_all(&packet)?;
        let answer = receive(stream)?;
        if wrong == 1 && answer.first() == Some(&b'a') {
            return Ok(Some("the node takes a wrong digest".into()));
        }
        Ok(None)
    }
}

/// Waits until the node closes the connection.
fn until_closed(stream: &mut TcpStream) -> Result<(), Error> {
    let mut bytes = [0; 1000];
    while stream.read(&mut bytes)? > 0 {}
    Ok(())
}
