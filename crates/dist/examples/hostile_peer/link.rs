//! The peer's end of a connection that is up: packets out, and what the node sends.

use crate::counters::{Counters, add};
use crate::handshake::is_closed;
use crate::judge::{Judge, Verdict};
use crate::random_pid::Own;
use crate::target::Target;
use heddle_dist::wire::{Assembler, AtomBudget, Control, DistEncoder, Fragmenter, Framing, Limits, OutCache, Target as Receiver};
use heddle_term::ident::RefView;
use heddle_term::{Atom, Heap, Term};
use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Queued bytes that are written at once.
const WRITE_BYTES: usize = 64 << 10;
/// In the highest word of the references of questions that this peer wants an answer to.
const QUESTION: u32 = 0x5eed;
/// Packets that are told after a failure.
const RECENT: usize = 12;
/// A name that no process has.
const NOBODY: &str = "hostile_nobody";

/// Why a connection cannot go on.
#[derive(Debug)]
pub enum Broken {
    /// The node closed it.
    Closed,
    /// The node neither reads nor answers.
    Silent(String),
    /// The node sent what it must not send.
    Wrong(String),
}

pub struct Link<'a> {
    pub target: &'a Target,
    pub own: Own,
    pub framing: Framing,
    pub judge: Judge,
    counters: &'a Counters,
    stream: TcpStream,
    cache: OutCache,
    sequence: NonZeroU64,
    output: Vec<u8>,
    input: Vec<u8>,
    assembler: Assembler,
    budget: AtomBudget,
    heap: Heap,
    /// The last packets that were sent, to be told after a failure.
    recent: VecDeque<Vec<u8>>,
    /// Nothing is read.
    pub is_deaf: bool,
    questions: u32,
    /// The number of the last question that was answered.
    answered: u32,
    /// Messages of the node that wait for an answer.
    pub wants: Vec<Wanted>,
}

/// What the node wants of this peer.
#[derive(Clone, Copy)]
pub enum Wanted {
    Control(Control),
}

impl<'a> Link<'a> {
    pub fn new(target: &'a Target, counters: &'a Counters, stream: TcpStream, own: Own, flags: u64, atoms: Arc<AtomBudget>) -> Link<'a> {
        let framing = Framing::of_flags(flags);
        Link {
            target,
            own,
            framing,
            judge: Judge::new(framing, own.node, atoms),
            counters,
            stream,
            cache: OutCache::new(),
            sequence: NonZeroU64::MIN,
            output: Vec::new(),
            input: Vec::new(),
            assembler: Assembler::new(framing, Limits::default()),
            budget: AtomBudget::new(100_000),
            heap: Heap::new(),
            recent: VecDeque::new(),
            is_deaf: false,
            questions: 0,
            answered: 0,
            wants: Vec::new(),
        }
    }

    /// The packets of a message, which must leave in this order, and before any other that is made later.
    pub fn packets(&mut self, control: &Control, payload: Option<Term>) -> Vec<Vec<u8>> {
        self.sequence = self.sequence.saturating_add(1);
        let mut packets = Vec::new();
        if let Ok(message) = DistEncoder::encode(self.framing, control, payload) {
            let mut fragmenter = Fragmenter::new(self.framing, message, self.sequence);
            while let Some(packet) = fragmenter.next(&mut self.cache) {
                let mut bytes = Vec::with_capacity(packet.len_bytes());
                packet.append_to(&mut bytes);
                packets.push(bytes);
            }
        }
        packets
    }

    /// What the node knows of atoms is not what this peer sent: all atoms are sent again.
    pub fn forget_atoms(&mut self) {
        self.cache = OutCache::new();
    }

    /// Sends a packet that the judge has seen.
    pub fn put(&mut self, packet: &[u8]) -> Result<(), Broken> {
        add(&self.counters.frames, 1);
        add(&self.counters.bytes, packet.len() as u64 + 4);
        self.output.extend_from_slice(&(packet.len() as u32).to_be_bytes());
        self.output.extend_from_slice(packet);
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(packet[..packet.len().min(500)].to_vec());
        if self.output.len() >= WRITE_BYTES { self.flush() } else { Ok(()) }
    }

    /// The last packets that were sent, as text.
    pub fn recent(&self) -> String {
        let hex = |packet: &Vec<u8>| packet.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        self.recent.iter().map(|packet| format!("\n  sent {}", hex(packet))).collect()
    }

    /// Sends a message that the node must accept. Tells the judge.
    pub fn post(&mut self, control: &Control, payload: Option<Term>) -> Result<(), Broken> {
        for packet in self.packets(control, payload) {
            let verdict = self.judge.judge(self.target, &packet, true);
            if verdict == Verdict::Forbidden {
                self.forget_atoms();
                return Ok(());
            }
            self.put(&packet)?;
        }
        Ok(())
    }

    /// Sends a message without a payload, of which the judge does not hear.
    pub fn put_message(&mut self, control: &Control) -> Result<(), Broken> {
        self.packets(control, None).iter().try_for_each(|packet| self.put(packet))
    }

    /// Bytes as they are, without a length in front.
    pub fn put_raw(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        self.output.extend_from_slice(bytes);
        self.flush()
    }

    /// Writes what is queued, and reads what has come.
    pub fn flush(&mut self) -> Result<(), Broken> {
        let output = std::mem::take(&mut self.output);
        let written = self.stream.write_all(&output).map_err(|error| self.broken(&error));
        self.output = output;
        self.output.clear();
        written?;
        if self.is_deaf {
            return Ok(());
        }
        self.stream.set_nonblocking(true).map_err(|error| self.broken(&error))?;
        let read = self.read();
        self.stream.set_nonblocking(false).map_err(|error| self.broken(&error))?;
        read
    }

    fn broken(&self, error: &Error) -> Broken {
        if is_closed(error) { Broken::Closed } else { Broken::Silent(format!("the node does not read: {error}")) }
    }

    /// Reads what there is. On a stream that blocks: waits for something.
    fn read(&mut self) -> Result<(), Broken> {
        loop {
            let old = self.input.len();
            self.input.resize(old + WRITE_BYTES, 0);
            let read = self.stream.read(&mut self.input[old..]);
            self.input.truncate(old + *read.as_ref().unwrap_or(&0));
            match read {
                Ok(0) => return Err(Broken::Closed),
                Ok(count) => {
                    self.take_packets()?;
                    if count < WRITE_BYTES {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(self.broken(&error)),
            }
        }
    }

    fn take_packets(&mut self) -> Result<(), Broken> {
        let input = std::mem::take(&mut self.input);
        let mut rest = &input[..];
        while let Some((len, after)) = rest.split_first_chunk::<4>() {
            let Some((packet, after)) = after.split_at_checked(u32::from_be_bytes(*len) as usize) else { break };
            add(&self.counters.received, 1);
            self.take(packet).map_err(Broken::Wrong)?;
            rest = after;
        }
        self.input = rest.to_vec();
        Ok(())
    }

    /// A packet of the node, which must be right.
    fn take(&mut self, packet: &[u8]) -> Result<(), String> {
        let wrong = |error: &dyn std::fmt::Display| format!("the node sent a wrong packet: {error}: {packet:02x?}");
        let Some(message) = self.assembler.receive(packet, &self.budget).map_err(|error| wrong(&error))? else { return Ok(()) };
        let (control, payload) = message.split(&mut self.heap, &self.budget).map_err(|error| wrong(&error))?;
        let payload = payload.map(|payload| payload.decode(&mut self.heap, &self.budget)).transpose().map_err(|error| wrong(&error))?;
        match control {
            Control::MonitorExit { reference, .. } if reference.words[2] == QUESTION => self.answered = reference.words[1],
            Control::Send { .. } => {
                if let Some(term) = payload {
                    learn(self.target, term);
                }
            }
            Control::SpawnReply { result: heddle_dist::wire::Spawned::Pid(_), .. } => add(&self.counters.spawned, 1),
            _ => {}
        }
        // The terms of a control message do not outlive the heap.
        let is_plain = matches!(control, Control::Link { .. } | Control::Unlink { .. } | Control::Monitor { .. });
        if is_plain && self.wants.len() < 100 {
            self.wants.push(Wanted::Control(control));
        }
        self.heap.clear();
        Ok(())
    }

    /// Monitors a name that no process has, and waits for the answer: the node has read all that was sent before.
    pub fn ask(&mut self) -> Result<(), Broken> {
        self.questions += 1;
        let mut nobody = heddle_model::Random::new(1);
        let from = self.own.pid(&mut nobody);
        let words = [1, self.questions, QUESTION, 0, 0];
        let reference = RefView { node: self.own.node, creation: self.own.creation, count: 3, words };
        self.post(&Control::Monitor { from, to: Receiver::Name(Atom::new(NOBODY)), reference }, None)?;
        self.flush()?;
        let begun = Instant::now();
        self.stream.set_read_timeout(Some(Duration::from_secs(1))).map_err(|error| self.broken(&error))?;
        while self.answered != self.questions {
            if begun.elapsed() > self.target.patience {
                return Err(Broken::Silent(format!("no answer to a monitor for {} s", begun.elapsed().as_secs())));
            }
            self.read()?;
        }
        add(&self.counters.answers, 1);
        Ok(())
    }

    /// Waits until the node closes the connection.
    pub fn until_closed(&mut self) -> Result<(), Broken> {
        self.flush()?;
        let begun = Instant::now();
        self.stream.set_read_timeout(Some(Duration::from_secs(1))).map_err(|error| self.broken(&error))?;
        while begun.elapsed() < self.target.patience {
            self.read()?;
        }
        Err(Broken::Silent(format!("the connection is still there after {} s", begun.elapsed().as_secs())))
    }

    /// Asks the helper of the node for its victims. The answer comes some time later.
    pub fn ask_for_victims(&mut self) -> Result<(), Broken> {
        let mut heap = Heap::new();
        let mut any = heddle_model::Random::new(1);
        let from = self.own.pid(&mut any);
        let process = from.to_term(&mut heap);
        let question = heap.tuple(&[Atom::new("who").into(), process]);
        let done = self.post(&Control::SendName { from, to: Atom::new("hostile"), token: None }, Some(question));
        heap.clear();
        done
    }
}

/// `{victims, [Pid]}` or `{protected, [Pid]}` of the helper.
fn learn(target: &Target, term: Term) {
    let Some(&[what, list]) = term.as_tuple() else { return };
    let mut pids = Vec::new();
    let mut rest = list;
    while rest.is_cons() {
        pids.extend(heddle_term::ident::PidView::of(rest.head()));
        rest = rest.tail();
    }
    match what.as_atom().map(|what| what.name()) {
        Some("victims") => target.know_victims(pids),
        Some("protected") => target.know_protected(&pids),
        _ => {}
    }
}
