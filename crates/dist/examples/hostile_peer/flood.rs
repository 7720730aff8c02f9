//! Attacks on one bound each: as many of a thing as the node takes. And the one that ends a process.

use crate::counters::{Counters, add};
use crate::handshake::{self, ALL_FLAGS, Ending, Wish};
use crate::link::{Broken, Link};
use crate::options::Options;
use crate::random_pid::Own;
use crate::target::Target;
use heddle_dist::wire::{AtomBudget, Control, Target as Receiver};
use heddle_model::Random;
use heddle_term::ident::{PidView, RefView};
use heddle_term::{Atom, Heap, am, node};
use std::io::Write;
use std::sync::Arc;

/// Things of a flood, unless `--frames` says how many.
const COUNT: u64 = 1_000_000;
/// Things between two questions to the node.
const ASK_EVERY: u64 = 5000;

/// Does what `--flood` or `--kill` say, if they do. Error: the node hangs.
pub fn single(options: &Options, target: &Target, counters: &Counters) -> Result<(), String> {
    let count = options.frames.unwrap_or(COUNT);
    if let Some(number) = options.kill {
        let mut link = up(options, target, counters, 0)?;
        let (node, creation) = node::current();
        let to = PidView { node, creation, number, serial: 0 };
        let from = link.own.pid(&mut Random::new(1));
        let packets = link.packets(&Control::Exit2 { from, to, token: None, reason: None }, Some(am::KILL.into()));
        let sent = packets.iter().try_for_each(|packet| link.put(packet)).and_then(|()| link.ask());
        println!("kill <0.{number}.0>: {}", if sent.is_ok() { "the node answers" } else { "the connection is gone" });
        return Ok(());
    }
    let Some(kind) = &options.flood else { return Ok(()) };
    match kind.as_str() {
        "names" => return names(options, target, counters, count),
        "idle" => return idle(target, count),
        _ => {}
    }
    let mut link = up(options, target, counters, 1)?;
    let mut sent = 0;
    let ended = flood(&mut link, kind, count, &mut sent);
    match ended {
        Ok(()) => println!("flood {kind}: the node took {sent}"),
        Err(Broken::Closed) => println!("flood {kind}: the node closed the connection after about {sent}"),
        Err(Broken::Silent(what) | Broken::Wrong(what)) => return Err(format!("flood {kind}: after {sent}: {what}")),
    }
    Ok(())
}

/// A connection that is up.
fn up<'a>(options: &Options, target: &'a Target, counters: &'a Counters, number: u64) -> Result<Link<'a>, String> {
    let name = target.name(number);
    let wish = Wish::right(&name, 4, ALL_FLAGS, &target.cookie);
    for _ in 0..100 {
        let mut stream = handshake::connect(&target.host, target.port, target.patience).map_err(|error| error.to_string())?;
        match wish.make(&mut stream, &mut Random::new(number)).map_err(|error| error.to_string())? {
            Ending::Up { flags, .. } => {
                let own = Own { node: Atom::new(&name), creation: 4 };
                let atoms = Arc::new(AtomBudget::new(options.atoms));
                return Ok(Link::new(target, counters, stream, own, flags, atoms));
            }
            Ending::NotNow(_) => std::thread::sleep(std::time::Duration::from_millis(50)),
            Ending::Refused(what) => return Err(what),
        }
    }
    Err("the node knows the name from another connection, and does not let it go".into())
}

/// A process of the node, which its helper tells.
fn victim(link: &mut Link) -> Result<Option<PidView>, Broken> {
    link.ask_for_victims()?;
    for _ in 0..100 {
        link.ask()?;
        if let Some(victim) = link.target.victims().first() {
            return Ok(Some(*victim));
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    Ok(None)
}

/// Many things of one kind.
fn flood(link: &mut Link, kind: &str, count: u64, sent: &mut u64) -> Result<(), Broken> {
    let victim = victim(link)?;
    for n in 0..count {
        *sent = n;
        match kind {
            "atoms" => {
                let name = format!("flood_{}_{n}", std::process::id());
                let payload = [&[119, name.len() as u8], name.as_bytes()].concat();
                link.put(&message(link, &payload))?;
            }
            "exports" => {
                let (module, function) = (format!("atom_{}_é", n / 256 % 1000 + 1), format!("atom_{}_é", n / 256_000 + 1));
                let name = |text: &str| [&[119, text.len() as u8], text.as_bytes()].concat();
                let payload = [&[113][..], &name(&module), &name(&function), &[97, n as u8]].concat();
                link.put(&message(link, &payload))?;
            }
            "funs" => {
                let mut fun = vec![112, 0, 0, 0, 0, 1];
                fun.extend_from_slice(&[7; 16]);
                fun.extend_from_slice(&(n as u32).to_be_bytes());
                fun.extend_from_slice(&[0, 0, 0, 0, 119, 5, b'l', b'i', b's', b't', b's', 97, 0, 97, 0]);
                fun.extend_from_slice(&[88, 119, 1, b'x', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
                link.put(&message(link, &fun))?;
            }
            "sequences" => {
                let packet = [&[131, 69][..], &(n + (1 << 40)).to_be_bytes(), &9u64.to_be_bytes(), &[0], &message(link, &[])[3..]].concat();
                link.put(&packet)?;
            }
            "fragments" => {
                let body = [5; 60_000];
                let id = 1u64 << 41;
                let packet = if n == 0 {
                    [&[131, 69][..], &id.to_be_bytes(), &u64::MAX.to_be_bytes(), &[0], &body].concat()
                } else {
                    [&[131, 70][..], &id.to_be_bytes(), &(u64::MAX - n).to_be_bytes(), &body].concat()
                };
                link.put(&packet)?;
            }
            "packet" => {
                if n == 0 {
                    link.put_raw(&u32::MAX.to_be_bytes())?;
                }
                // All bytes belong to one packet.
                link.put_raw(&[131; 60_000])?;
                continue;
            }
            "monitors" => {
                let reference = reference(link, n);
                link.put_message(&Control::Monitor { from: own(link, 1), to: Receiver::Name(Atom::new("hostile_1")), reference })?;
            }
            "links" => {
                let Some(to) = victim else { return Ok(()) };
                link.put_message(&Control::Link { from: own(link, n as u32), to })?;
            }
            "answers" => {
                let (node, creation) = node::current();
                let to = PidView { node, creation, number: 1 << 27, serial: 1 };
                link.is_deaf = true;
                link.put_message(&Control::Link { from: own(link, n as u32), to })?;
                continue;
            }
            "spawns" => {
                let (module, function) = (Atom::new("timer"), Atom::new("sleep"));
                let mut heap = Heap::new();
                let (options, arguments) = (heap.list(&[am::LINK.into()]), heap.list(&[Atom::new("infinity").into()]));
                let (from, reference) = (own(link, 1), reference(link, n));
                let control =
                    Control::SpawnRequest { reference, from, group_leader: from, module, function, arity: 1, options, token: None };
                let packets = link.packets(&control, Some(arguments));
                heap.clear();
                packets.iter().try_for_each(|packet| link.put(packet))?;
            }
            _ => {
                println!("no flood {kind}; see --help");
                return Ok(());
            }
        }
        if n % ASK_EVERY == ASK_EVERY - 1 {
            link.ask()?;
        }
    }
    if matches!(kind, "answers" | "packet") { link.flush() } else { link.ask() }
}

/// A message to a victim, of one packet without atoms of a cache.
fn message(link: &Link, payload: &[u8]) -> Vec<u8> {
    let name = link.own.node.name().as_bytes();
    let mut packet = vec![131, 68, 0, 104, 4, 97, 6, 88, 119, name.len() as u8];
    packet.extend_from_slice(name);
    packet.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 4, 106, 119, 9]);
    packet.extend_from_slice(b"hostile_1");
    packet.extend_from_slice(payload);
    packet
}

fn own(link: &Link, number: u32) -> PidView {
    PidView { node: link.own.node, creation: link.own.creation, number, serial: 0 }
}

fn reference(link: &Link, number: u64) -> RefView {
    let words = [number as u32 & 0x3ffff, (number >> 18) as u32, 3, 0, 0];
    RefView { node: link.own.node, creation: link.own.creation, count: 3, words }
}

/// Right handshakes with as many names.
fn names(options: &Options, target: &Target, counters: &Counters, count: u64) -> Result<(), String> {
    for number in 0..count {
        let name = format!("flood{number}@{}", target.host);
        let wish = Wish::right(&name, 4, ALL_FLAGS, &options.cookie);
        let mut stream = handshake::connect(&target.host, target.port, target.patience).map_err(|error| error.to_string())?;
        if let Err(error) = wish.make(&mut stream, &mut Random::new(number)) {
            return Err(format!("flood names: handshake {number}: {error}"));
        }
        add(&counters.handshakes, 1);
    }
    println!("flood names: the node took {count}");
    Ok(())
}

/// Connections that say nothing, until there are as many, or no more can be made.
fn idle(target: &Target, count: u64) -> Result<(), String> {
    let mut all = Vec::new();
    for _ in 0..count {
        match handshake::connect(&target.host, target.port, target.patience) {
            Ok(mut stream) => {
                let _ = stream.write_all(&[0]);
                all.push(stream);
            }
            Err(error) => {
                println!("flood idle: {error}");
                break;
            }
        }
    }
    println!("flood idle: {} connections", all.len());
    std::thread::sleep(std::time::Duration::from_secs(2));
    Ok(())
}
