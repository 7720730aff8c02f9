//! A stock node, and a connection to it that speaks with the wire format under test.

use heddle_dist::wire::{Assembler, AtomBudget, Control, DistEncoder, Fragmenter, Framing, Limits, OutCache};
use heddle_term::ident::{PidView, RefView};
use heddle_term::{Atom, Heap, Term};
use md5::{Digest, Md5};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::num::NonZeroU64;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What OTP 27 offers, but hidden.
pub const ALL_FLAGS: u64 = 0xd_07df_7fbc;
pub const FLAG_EXIT_PAYLOAD: u64 = 0x40_0000;
pub const FLAG_SEND_SENDER: u64 = 0x8_0000;

const COOKIE: &str = "wire";
const CREATION: u32 = 77;

/// A stock node that runs `partner.erl`. It ends with this value.
pub struct StockNode {
    process: Child,
    port: u16,
}

impl StockNode {
    /// `HEDDLE_STOCK` is the path of a stock `erl`.
    pub fn start() -> StockNode {
        let stock = std::env::var("HEDDLE_STOCK").expect("HEDDLE_STOCK: the path of a stock erl");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wire/stock/partner.erl");
        let run = format!("{{ok,M,B}}=compile:file(\"{source}\",[binary]),{{module,M}}=code:load_binary(M,\"\",B),M:start().");
        let mut process = Command::new(stock)
            .args(["-noinput", "-sname", "stock@localhost", "-setcookie", COOKIE, "-start_epmd", "false"])
            .args(["-erl_epmd_port", &port.to_string(), "-eval", &run])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        StockNode { process, port }
    }
}

impl Drop for StockNode {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The test's node.
pub struct Peer {
    stream: TcpStream,
    name: Atom,
    framing: Framing,
    cache: OutCache,
    assembler: Assembler,
    budget: AtomBudget,
    /// Packets that came, in order.
    pub received: Vec<Vec<u8>>,
    /// Terms of this connection.
    pub heap: Heap,
    /// The trace token of `ask` and `ask_of`.
    pub token: Option<Term>,
}

impl Peer {
    /// Connects under that name (before the `@`), and agrees on those of `flags` that stock has.
    pub fn connect(node: &StockNode, name: &str, flags: u64) -> Peer {
        let name = format!("{name}@localhost");
        let mut stream = TcpStream::connect(("127.0.0.1", node.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_nodelay(true).unwrap();
        shake_hands(&mut stream, &name, flags);
        let framing = Framing::of_flags(flags);
        Peer {
            stream,
            name: Atom::new(&name),
            framing,
            cache: OutCache::new(),
            assembler: Assembler::new(framing, Limits::default()),
            budget: AtomBudget::new(1000),
            received: Vec::new(),
            heap: Heap::new(),
            token: None,
        }
    }

    /// A process of the test's node.
    pub fn pid(&self, number: u32) -> PidView {
        PidView { node: self.name, creation: CREATION, number, serial: 0 }
    }

    /// A reference of the test's node, of 3 or 5 words.
    pub fn reference(&self, number: u32, count: usize) -> RefView {
        let mut words = [number, 1, 2, 3, 4];
        words[count..].fill(0);
        RefView { node: self.name, creation: CREATION, count, words }
    }

    pub fn send(&mut self, control: &Control, payload: Option<Term>) {
        let message = DistEncoder::encode(self.framing, control, payload).unwrap();
        let mut packets = Fragmenter::new(self.framing, message, NonZeroU64::MIN);
        while let Some(packet) = packets.next(&mut self.cache) {
            let mut bytes = (packet.len_bytes() as u32).to_be_bytes().to_vec();
            packet.append_to(&mut bytes);
            self.stream.write_all(&bytes).unwrap();
        }
    }

    /// Asks `partner` for something, as process 1.
    pub fn ask(&mut self, command: Term) {
        let from = self.pid(1);
        let payload = [from.to_term(&mut self.heap), command];
        let payload = self.heap.tuple(&payload);
        self.send(&Control::SendName { from, to: Atom::new("partner"), token: self.token }, Some(payload));
    }

    /// The same of another process of the stock node.
    pub fn ask_of(&mut self, to: PidView, command: Term) {
        let from = self.pid(1);
        let payload = [from.to_term(&mut self.heap), command];
        let payload = self.heap.tuple(&payload);
        self.send(&Control::Send { from: Some(from), to, token: self.token }, Some(payload));
    }

    /// The next message of the stock node.
    pub fn receive(&mut self) -> (Control, Option<Term>) {
        loop {
            let mut len = [0; 4];
            self.stream.read_exact(&mut len).unwrap();
            let mut packet = vec![0; u32::from_be_bytes(len) as usize];
            self.stream.read_exact(&mut packet).unwrap();
            self.received.push(packet.clone());
            let Some(message) = self.assembler.receive(&packet, &self.budget).unwrap() else { continue };
            let (control, payload) = message.split(&mut self.heap, &self.budget).unwrap();
            let payload = payload.map(|payload| payload.decode(&mut self.heap, &self.budget).unwrap());
            control.check_nodes(Atom::new("stock@localhost"), self.name).unwrap();
            return (control, payload);
        }
    }

    /// A trace token of process 1.
    pub fn new_token(&mut self) -> Term {
        let from = self.pid(1).to_term(&mut self.heap);
        // Flags (1: trace what is sent), label, serial number, sender, last serial number.
        self.heap.tuple(&[Term::small(1), Term::atom(Atom::new("label")), Term::small(2), from, Term::small(1)])
    }

    /// The text of the next message's payload, which is sent to process 1.
    pub fn receive_text(&mut self) -> String {
        let (control, payload) = self.receive();
        let to_process_1 = matches!(control, Control::Send { to, .. } if to == self.pid(1));
        assert!(to_process_1, "{control:?} {payload:?}");
        format!("{:?}", payload.unwrap())
    }
}

fn digest(challenge: u32) -> [u8; 16] {
    Md5::digest(format!("{COOKIE}{challenge}")).into()
}

fn write(stream: &mut TcpStream, message: &[u8]) {
    let len = (message.len() as u16).to_be_bytes();
    stream.write_all(&[&len, message].concat()).unwrap();
}

fn read(stream: &mut TcpStream) -> Vec<u8> {
    let mut len = [0; 2];
    stream.read_exact(&mut len).unwrap();
    let mut message = vec![0; u16::from_be_bytes(len) as usize];
    stream.read_exact(&mut message).unwrap();
    message
}

/// Version 6, as the node that connects.
fn shake_hands(stream: &mut TcpStream, name: &str, flags: u64) {
    let len = (name.len() as u16).to_be_bytes();
    write(stream, &[b"N", &flags.to_be_bytes()[..], &CREATION.to_be_bytes(), &len, name.as_bytes()].concat());
    assert_eq!(read(stream), b"sok");
    let challenge = read(stream);
    assert_eq!(challenge[0], b'N');
    let theirs = u32::from_be_bytes(challenge[9..13].try_into().unwrap());
    let ours = 12345u32;
    write(stream, &[b"r", &ours.to_be_bytes()[..], &digest(theirs)].concat());
    let ack = read(stream);
    assert_eq!((ack[0], &ack[1..]), (b'a', &digest(ours)[..]));
}
