//! Packets that a stock OTP 27 node sent, and what they mean. Each line that begins with `<` is a packet, and the lines after it are the
//! control message and its payload, if the packet completes a message.

use heddle_dist::wire::{Assembler, AtomBudget, Framing, Limits};
use heddle_term::{Heap, etf};
use std::fmt::Write;

const RECORD: &str = include_str!("packets.txt");

/// Appends packets of one connection and what they mean.
pub fn describe(text: &mut String, flags: u64, packets: &[Vec<u8>]) {
    let framing = Framing::of_flags(flags);
    let mut assembler = Assembler::new(framing, Limits::default());
    let budget = AtomBudget::new(1000);
    writeln!(text, "flags {flags:x}").unwrap();
    for packet in packets {
        writeln!(text, "< {}", hex(packet)).unwrap();
        let Some(message) = assembler.receive(packet, &budget).unwrap() else { continue };
        let mut heap = Heap::new();
        let (control, payload) = message.split(&mut heap, &budget).unwrap();
        writeln!(text, "{} {}", control.operation(), without_node_numbers(&format!("{control:?}"))).unwrap();
        if let Some(payload) = payload {
            let payload = payload.decode(&mut heap, &budget).unwrap();
            let mut payload_text = without_node_numbers(&format!("{payload:?}"));
            if payload_text.len() > 200 {
                payload_text = hex(&etf::encode(payload, &Default::default()));
            }
            writeln!(text, "payload {payload_text}").unwrap();
        }
        heap.clear();
    }
}

/// The first number in a pid of another node is that of an atom, and differs from run to run.
fn without_node_numbers(text: &str) -> String {
    let mut parts = text.split('<');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    parts.for_each(|part| write!(plain, "<{}", part.trim_start_matches(|c: char| c.is_ascii_digit())).unwrap());
    plain
}

/// Two digits a byte. Bytes that are the same as 2 before, 64 times or more, are written as their number in parentheses.
fn hex(packet: &[u8]) -> String {
    let mut text = String::new();
    let mut at = 0;
    while at < packet.len() {
        let run = (at..packet.len()).take_while(|&n| n >= 2 && packet[n] == packet[n - 2]).count();
        if run >= 64 {
            write!(text, "({run})").unwrap();
            at += run;
        } else {
            write!(text, "{:02x}", packet[at]).unwrap();
            at += 1;
        }
    }
    text
}

fn bytes(hex: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = hex;
    while !rest.is_empty() {
        if let Some((run, after)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            (0..run.parse().unwrap()).for_each(|_| bytes.push(bytes[bytes.len() - 2]));
            rest = after;
        } else {
            bytes.push(u8::from_str_radix(&rest[..2], 16).unwrap());
            rest = &rest[2..];
        }
    }
    bytes
}

pub fn bless(text: &str) {
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wire/stock/packets.txt"), text).unwrap();
}

#[test]
fn packets_of_a_stock_node_mean_what_they_meant() {
    let mut text = String::new();
    let mut operations = Vec::new();
    for connection in RECORD.split("flags ").skip(1) {
        let (flags, lines) = connection.split_once('\n').unwrap();
        let packets: Vec<Vec<u8>> = lines.lines().filter_map(|line| line.strip_prefix("< ")).map(bytes).collect();
        describe(&mut text, u64::from_str_radix(flags, 16).unwrap(), &packets);
        operations.extend(lines.lines().filter_map(|line| line.split(' ').next()?.parse::<u8>().ok()));
    }
    assert_eq!(text, RECORD);
    operations.sort_unstable();
    operations.dedup();
    // All but those that stock never sends: exit/2 takes no token.
    assert_eq!(operations, [1, 2, 3, 6, 7, 8, 12, 13, 16, 19, 20, 21, 22, 23, 24, 25, 26, 28, 29, 30, 31, 32, 33, 34, 35, 36]);
}
