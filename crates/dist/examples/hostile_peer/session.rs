//! A connection that is up, from its handshake to its end.

use crate::counters::{Counters, add};
use crate::fragment_attack;
use crate::handshake::{self, ALL_FLAGS, Ending, FLAG_PUBLISHED, Wish};
use crate::judge::Verdict;
use crate::link::{Broken, Link, Wanted};
use crate::mutation::mutate;
use crate::odd_packet;
use crate::random_control;
use crate::random_pid::{self, Own, of_node};
use crate::target::Target;
use heddle_dist::wire::{AtomBudget, Control, Target as Receiver};
use heddle_model::Random;
use heddle_term::ident::{PidView, RefView};
use heddle_term::{Atom, Heap, am};
use std::sync::Arc;
use std::time::Duration;

/// Packets between two questions to the node. So the node never has more than these before it.
const ASK_EVERY: u64 = 500;
const FLAG_ATOM_CACHE: u64 = 0x2000;
const FLAG_FRAGMENTS: u64 = 0x80_0000;
const FLAG_EXIT_PAYLOAD: u64 = 0x40_0000;

pub struct Session<'a> {
    pub target: &'a Target,
    pub counters: &'a Counters,
    pub atoms: Arc<AtomBudget>,
    pub random: Random,
    /// Of what depends on what the node sends, and so on time.
    pub reactions: Random,
    pub number: u64,
    pub tells: bool,
}

/// What may be the end of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outlook {
    /// The node must keep it up.
    Stays,
    /// The node may close it: a receiver may have found a payload that is no term, or `global` may want to be rid of the peer.
    May,
}

impl Session<'_> {
    /// Error: what the node did wrong.
    pub fn run(&mut self) -> Result<(), String> {
        let name = self.target.name(self.number);
        let creation = self.random.below(1 << 20) as u32 + 4;
        let mut flags = ALL_FLAGS;
        let published = self.random.chance(20);
        for (flag, percent) in [(FLAG_ATOM_CACHE, 15), (FLAG_FRAGMENTS, 15), (FLAG_EXIT_PAYLOAD, 10)] {
            if self.random.chance(percent) {
                flags &= !flag;
            }
        }
        flags |= if published { FLAG_PUBLISHED } else { 0 };
        let wish = Wish::right(&name, creation, flags, &self.target.cookie);
        let (stream, ending) = self.connect(&wish).map_err(|error| format!("no handshake: {error}"))?;
        add(&self.counters.handshakes, 1);
        let flags = match ending {
            Ending::Up { flags, .. } => flags,
            Ending::NotNow(_) => {
                add(&self.counters.not_now, 1);
                return Ok(());
            }
            Ending::Refused(what) => return Err(format!("the node refuses a right handshake: {what}")),
        };
        add(&self.counters.sessions, 1);
        let own = Own { node: Atom::new(&name), creation };
        let mut link = Link::new(self.target, self.counters, stream, own, flags, self.atoms.clone());
        // `global` closes connections to visible nodes that do not speak its protocol.
        let mut outlook = if published || self.target.is_stock { Outlook::May } else { Outlook::Stays };
        match self.packets(&mut link, &mut outlook) {
            Ok(()) => Ok(()),
            Err(Broken::Closed) if outlook == Outlook::May => Ok(()),
            Err(Broken::Closed) => Err(format!("{name}: the node closed a connection that kept to the protocol{}", link.recent())),
            Err(Broken::Silent(what) | Broken::Wrong(what)) => Err(format!("{name}: {what}")),
        }
    }

    /// A name that the node still knows from another connection, or to which it connects itself at this time, is tried again for a while.
    fn connect(&mut self, wish: &Wish) -> Result<(std::net::TcpStream, Ending), std::io::Error> {
        let mut tries = 0;
        loop {
            let mut stream = handshake::connect(&self.target.host, self.target.port, self.target.patience)?;
            tries += 1;
            let ending = match wish.make(&mut stream, &mut self.reactions) {
                Err(error) if handshake::is_closed(&error) && tries < 20 => {
                    add(&self.counters.broken_off, 1);
                    Ending::NotNow("closed".into())
                }
                made => made?,
            };
            if !matches!(ending, Ending::NotNow(_)) || tries == 20 {
                return Ok((stream, ending));
            }
            std::thread::sleep(Duration::from_millis(10 * tries));
        }
    }

    fn packets(&mut self, link: &mut Link, outlook: &mut Outlook) -> Result<(), Broken> {
        let length = self.random.one(&[1, 10, 50, 200, 1000, 3000, 3000]);
        if self.target.wants_victims() {
            link.ask_for_victims()?;
            link.ask()?;
        }
        for n in 1..=length {
            self.message(link, outlook)?;
            if n % ASK_EVERY == 0 {
                link.ask()?;
            }
            self.react(link)?;
        }
        self.end(link, outlook)
    }

    /// One message, or a few packets of it.
    fn message(&mut self, link: &mut Link, outlook: &mut Outlook) -> Result<(), Broken> {
        match self.random.below(1000) {
            0..20 => {
                let packet = odd_packet::packet(link.framing, &link.own, &mut self.random);
                return self.try_packet(link, packet, outlook);
            }
            20..21 => return self.mass(link),
            24..30 if link.framing.fragments => {
                let packets = fragment_attack::packets(&link.own, &mut self.random);
                for packet in packets {
                    add(&self.counters.fragments, 1);
                    self.try_packet(link, packet, outlook)?;
                }
                return Ok(());
            }
            // A tick.
            30..40 => return self.put(link, &[], outlook),
            _ => {}
        }
        let mut heap = Heap::new();
        let control = random_control::control(&mut heap, self.target, &link.own, &mut self.random);
        let payload = control.has_payload().then(|| random_control::payload(&mut heap, &control, &link.own, &mut self.random));
        let is_forbidden = link.judge.forbids(self.target, &control, payload);
        let packets = if is_forbidden { Vec::new() } else { link.packets(&control, payload) };
        heap.clear();
        add(&self.counters.fragments, if packets.len() > 1 { packets.len() as u64 } else { 0 });
        for mut packet in packets {
            if !self.random.chance(20) {
                self.put(link, &packet, outlook)?;
            } else {
                mutate(&mut self.random, &mut packet);
                add(&self.counters.mutated, 1);
                // What it does to the node's atoms is not what this peer believes.
                link.forget_atoms();
                self.try_packet(link, packet, outlook)?;
            }
        }
        Ok(())
    }

    /// Sends a packet that is right in itself. Packets before it may have made it wrong: then it is not sent, and the judge may be mistaken from then on.
    fn put(&mut self, link: &mut Link, packet: &[u8], outlook: &mut Outlook) -> Result<(), Broken> {
        match link.judge.judge(self.target, packet, true) {
            Verdict::Accepted => {
                self.tell(packet, "accepted");
                link.put(packet)
            }
            _ => {
                *outlook = Outlook::May;
                link.forget_atoms();
                Ok(())
            }
        }
    }

    /// Sends the packet if the node can go on after it.
    fn try_packet(&mut self, link: &mut Link, packet: Vec<u8>, outlook: &mut Outlook) -> Result<(), Broken> {
        match link.judge.judge(self.target, &packet, false) {
            Verdict::Accepted => {
                self.tell(&packet, "accepted");
                link.put(&packet)
            }
            verdict => {
                // The last packet of a session may be one.
                if self.random.chance(2) && verdict != Verdict::Forbidden {
                    self.last(link, &packet, verdict, outlook)?;
                }
                link.forget_atoms();
                Ok(())
            }
        }
    }

    fn tell(&self, packet: &[u8], what: &str) {
        if self.tells {
            println!("{what}: {}", packet.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        }
    }

    /// A packet after which the node closes the connection.
    fn last(&mut self, link: &mut Link, packet: &[u8], verdict: Verdict, outlook: &mut Outlook) -> Result<(), Broken> {
        add(&self.counters.refused, 1);
        self.tell(packet, &format!("{verdict:?}"));
        // Before it is sent: the node may close the connection while the rest is written.
        *outlook = Outlook::May;
        link.put(packet)?;
        // What follows in the same bytes must do no harm.
        if self.random.chance(50) {
            link.put(packet)?;
        }
        match verdict {
            Verdict::Refused(_) if !self.target.is_stock => link.until_closed(),
            // Perhaps no process reads it.
            _ => link.ask().and(Err(Broken::Closed)),
        }
    }

    /// Links, monitors and the like for thousands of processes, most of which there are not.
    fn mass(&mut self, link: &mut Link) -> Result<(), Broken> {
        let (kind, count) = (self.random.below(8), self.random.one(&[50, 300, 1000]));
        for n in 0..count {
            let from = PidView { number: n, ..link.own.pid(&mut self.random) };
            let words = [n, 7, 7, 0, 0];
            let reference = RefView { node: link.own.node, creation: link.own.creation, count: 3, words };
            let to = of_node(self.target, &mut self.random);
            if to.is_ours() && self.target.is_protected(to) {
                continue;
            }
            let control = match kind {
                0 => Control::Link { from, to },
                1 => Control::Unlink { id: n as u64 + 1, from, to },
                2 => Control::Monitor { from, to: Receiver::Pid(to), reference },
                3 => Control::Monitor { from, to: Receiver::Name(random_pid::name(&mut self.random)), reference },
                4 => Control::Demonitor { from, to: Receiver::Pid(to), reference },
                5 => Control::Demonitor { from, to: Receiver::Name(random_pid::name(&mut self.random)), reference },
                6 => Control::UnlinkAck { id: n as u64 + 1, from, to },
                _ => Control::Exit { from, to, token: None, reason: None },
            };
            let payload = control.has_payload().then(|| am::NORMAL.into());
            link.post(&control, payload)?;
        }
        link.ask()
    }

    /// Answers some of what the node's processes want, rightly or not.
    fn react(&mut self, link: &mut Link) -> Result<(), Broken> {
        for wanted in std::mem::take(&mut link.wants) {
            let Wanted::Control(control) = wanted;
            if self.reactions.chance(50) {
                continue;
            }
            let (control, payload) = match control {
                Control::Link { from, to } => (Control::Exit { from: to, to: from, token: None, reason: Some(am::NOPROC.into()) }, None),
                Control::Unlink { id, from, to } => (Control::UnlinkAck { id, from: to, to: from }, None),
                Control::Monitor { from, to, reference } => {
                    (Control::MonitorExit { from: to, to: from, reference, reason: Some(am::NOPROC.into()) }, None)
                }
                _ => continue,
            };
            if matches!(control, Control::Exit { to, .. } if self.target.is_protected(to)) {
                continue;
            }
            link.post(&control, payload)?;
        }
        Ok(())
    }

    /// The end, unless a packet was it.
    fn end(&mut self, link: &mut Link, outlook: &mut Outlook) -> Result<(), Broken> {
        match self.random.below(6) {
            // All was read, and nothing is wrong.
            0 | 1 => link.ask(),
            // Just gone.
            2 => link.flush(),
            // Half a packet, or the claim of a huge one.
            3 => {
                let claim = self.random.one(&[1u32, 100, 70_000, 1 << 26, 1 << 30, 1 << 31, u32::MAX]);
                let mut bytes = claim.to_be_bytes().to_vec();
                bytes.truncate(self.random.below(5) as usize);
                let some = self.random.below(50).min(claim as u64 - 1);
                if bytes.len() == 4 {
                    bytes.extend((0..some).map(|_| self.random.bits() as u8));
                }
                // The judge may not know of the rest.
                *outlook = Outlook::May;
                link.flush()?;
                link.put_raw(&bytes)
            }
            _ => {
                for _ in 0..50 {
                    let packet = odd_packet::packet(link.framing, &link.own, &mut self.random);
                    let verdict = link.judge.judge(self.target, &packet, false);
                    if !matches!(verdict, Verdict::Accepted | Verdict::Forbidden) {
                        match self.last(link, &packet, verdict, outlook) {
                            Err(Broken::Closed) => return Ok(()),
                            other => return other,
                        }
                    }
                }
                link.ask()
            }
        }
    }
}
