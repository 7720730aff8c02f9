//! What a live stock node understands, and what it says.

use super::peer::{ALL_FLAGS, FLAG_EXIT_PAYLOAD, FLAG_SEND_SENDER, Peer, StockNode};
use crate::random;
use heddle_dist::wire::{Control, FLAG_FRAGMENTS, FLAG_HEADER_ATOM_CACHE, SPAWN_FLAG_LINK, SPAWN_FLAG_MONITOR, Spawned, Target};
use heddle_model::Random;
use heddle_term::ident::{PidView, RefView};
use heddle_term::{Atom, Term, order};

/// Flags without atom cache, fragments, or both.
const FRAMINGS: [u64; 4] = [0, FLAG_HEADER_ATOM_CACHE, FLAG_FRAGMENTS, FLAG_HEADER_ATOM_CACHE | FLAG_FRAGMENTS];

fn atom(name: &str) -> Term {
    Term::atom(Atom::new(name))
}

/// `{Name, Term}`.
fn tagged(peer: &mut Peer, name: &str, term: Term) -> Term {
    peer.heap.tuple(&[atom(name), term])
}

/// Has the stock node spawn a process.
fn worker(peer: &mut Peer) -> PidView {
    peer.ask(atom("worker"));
    let (_, payload) = peer.receive();
    PidView::of(payload.unwrap().as_tuple().unwrap()[1]).unwrap()
}

#[test]
#[ignore = "needs HEDDLE_STOCK, a stock erl"]
fn random_terms_come_back_from_a_stock_node() {
    let node = StockNode::start();
    for (n, without) in FRAMINGS.into_iter().enumerate() {
        let mut peer = Peer::connect(&node, &format!("echo{n}"), ALL_FLAGS & !without);
        let mut random = Random::new(n as u64);
        for round in 0..3000 {
            let term = if round % 50 == 0 {
                // More atoms than a message can refer to, and in the end more than a cache holds.
                let atoms: Vec<Term> = (0..2000).map(|_| Term::atom(random::atom(&mut random))).collect();
                peer.heap.list(&atoms)
            } else {
                random::term(&mut peer.heap, &mut random, 5)
            };
            let command = tagged(&mut peer, "echo", term);
            peer.ask(command);
            let (control, payload) = peer.receive();
            assert!(matches!(control, Control::Send { .. }));
            let again = payload.unwrap().as_tuple().unwrap()[1];
            assert!(order::exact_eq(term, again), "{term:?} came back as {again:?}");
            peer.heap.clear();
        }
    }
}

#[test]
#[ignore = "needs HEDDLE_STOCK, a stock erl"]
fn long_messages_arrive_in_both_directions() {
    let node = StockNode::start();
    for (n, without) in FRAMINGS.into_iter().enumerate() {
        let mut peer = Peer::connect(&node, &format!("long{n}"), ALL_FLAGS & !without);
        for size in [65_000, 65_536, 70_000, 1_000_000] {
            // In a term, so that the whole of it is written and not shared.
            let bytes = peer.heap.binary(&vec![b'x'; size as usize]);
            let list: Vec<Term> = (0..size / 8).map(Term::small).collect();
            let list = peer.heap.list(&list);
            let term = peer.heap.tuple(&[bytes, list, bytes, atom("end")]);
            let command = tagged(&mut peer, "echo", term);
            peer.ask(command);
            let (_, payload) = peer.receive();
            assert!(order::exact_eq(payload.unwrap().as_tuple().unwrap()[1], term));
            peer.heap.clear();
        }
        let is_cut = peer.received.iter().any(|packet| packet[1] == 70);
        assert_eq!(is_cut, without & FLAG_FRAGMENTS == 0);
    }
}

#[test]
#[ignore = "needs HEDDLE_STOCK, a stock erl"]
fn a_stock_node_obeys_each_operation() {
    let node = StockNode::start();
    for (n, without) in FRAMINGS.into_iter().enumerate() {
        let mut peer = Peer::connect(&node, &format!("obey{n}"), ALL_FLAGS & !without);
        obey(&mut peer);
    }
}

fn obey(peer: &mut Peer) {
    let me = peer.pid(1);
    let to = worker(peer);
    let to_me = me.to_term(&mut peer.heap);
    let command = tagged(peer, "reply_to", to_me);
    peer.ask_of(to, command);
    peer.ask_of(to, atom("trap"));
    assert_eq!(peer.receive_text(), "trapping");

    // Messages, with a token as well.
    let token = peer.new_token();
    for token in [None, Some(token)] {
        for from in [Some(me), None] {
            peer.send(&Control::Send { from, to, token }, Some(atom("hello")));
            assert_eq!(peer.receive_text(), "{got,hello}");
        }
    }
    peer.ask(atom("alias"));
    let (_, payload) = peer.receive();
    let alias = RefView::of(payload.unwrap().as_tuple().unwrap()[1]).unwrap();
    peer.send(&Control::SendAlias { from: me, alias, token: None }, Some(atom("hello")));
    assert_eq!(peer.receive_text(), "{by_alias,hello}");

    // A fun with a large binary, which comes from there and is called there.
    let binary = peer.heap.binary(&[b'x'; 1000]);
    let command = tagged(peer, "a_fun", binary);
    peer.ask(command);
    let (_, payload) = peer.receive();
    let command = tagged(peer, "call", payload.unwrap().as_tuple().unwrap()[1]);
    peer.ask(command);
    let (_, payload) = peer.receive();
    let with = tagged(peer, "with", binary);
    assert!(order::exact_eq(payload.unwrap().as_tuple().unwrap()[1], with));

    // Links.
    let own = peer.pid(2);
    let own_text = format!("{:?}", own.to_term(&mut peer.heap));
    peer.send(&Control::Link { from: own, to }, None);
    peer.send(&Control::Exit { from: own, to, token: None, reason: None }, Some(atom("gone")));
    assert_eq!(peer.receive_text(), format!("{{got,{{'EXIT',{own_text},gone}}}}"));
    peer.send(&Control::Link { from: own, to }, None);
    peer.send(&Control::Exit { from: own, to, token: None, reason: Some(atom("old")) }, None);
    assert_eq!(peer.receive_text(), format!("{{got,{{'EXIT',{own_text},old}}}}"));
    peer.send(&Control::Link { from: own, to }, None);
    peer.send(&Control::Unlink { id: 1 << 63, from: own, to }, None);
    match peer.receive().0 {
        Control::UnlinkAck { id, from, to: acknowledged } => assert_eq!((id, from, acknowledged), (1 << 63, to, own)),
        other => panic!("{other:?}"),
    }
    // The stock node's own unlink waits for the answer.
    peer.ask_of(to, atom("link"));
    assert!(matches!(peer.receive().0, Control::Link { from, to: linked } if from == to && linked == me));
    peer.ask_of(to, atom("unlink"));
    let Control::Unlink { id, from, .. } = peer.receive().0 else { panic!() };
    assert_eq!(from, to);
    peer.send(&Control::UnlinkAck { id, from: me, to }, None);
    assert_eq!(peer.receive_text(), "unlinked");

    // exit/2.
    peer.send(&Control::Exit2 { from: own, to, token: None, reason: None }, Some(atom("please")));
    assert_eq!(peer.receive_text(), format!("{{got,{{'EXIT',{own_text},please}}}}"));
    peer.send(&Control::Exit2 { from: own, to, token: Some(token), reason: Some(atom("old")) }, None);
    assert_eq!(peer.receive_text(), format!("{{got,{{'EXIT',{own_text},old}}}}"));

    // Monitors of stock's process.
    let reference = peer.reference(5, 3);
    let monitor = Control::Monitor { from: own, to: Target::Name(Atom::new("nobody")), reference };
    peer.send(&monitor, None);
    let (control, payload) = peer.receive();
    assert!(matches!(control, Control::MonitorExit { from: Target::Name(_), to, .. } if to == own), "{control:?}");
    assert_eq!(payload, Some(atom("noproc")));
    let (kept, given_up) = (peer.reference(6, 5), peer.reference(7, 3));
    peer.send(&Control::Monitor { from: own, to: Target::Pid(to), reference: kept }, None);
    peer.send(&Control::Monitor { from: own, to: Target::Pid(to), reference: given_up }, None);
    peer.send(&Control::Demonitor { from: own, to: Target::Pid(to), reference: given_up }, None);

    // Monitors of stock's.
    for (command, target) in [("monitor", Target::Pid(me)), ("monitor_name", Target::Name(Atom::new("somebody")))] {
        peer.ask_of(to, atom(command));
        let Control::Monitor { from, to: watched, reference } = peer.receive().0 else { panic!() };
        assert_eq!((from, watched), (to, target));
        peer.send(&Control::MonitorExit { from: watched, to: from, reference, reason: None }, Some(atom("over")));
        let down = peer.receive_text();
        assert!(down.starts_with("{got,{'DOWN',") && down.ends_with(",over}}"), "{down}");
    }

    // A new group leader, seen by a process that is spawned with it.
    let reference = peer.reference(8, 3);
    let arguments = [to_me, atom("what")];
    let arguments = peer.heap.list(&arguments);
    let options = peer.heap.list(&[atom("monitor"), atom("link")]);
    let request = Control::SpawnRequest {
        reference,
        from: me,
        group_leader: own,
        module: Atom::new("partner"),
        function: Atom::new("reply"),
        arity: 2,
        options,
        token: None,
    };
    peer.send(&request, Some(arguments));
    let Control::SpawnReply { flags, result: Spawned::Pid(spawned), .. } = peer.receive().0 else { panic!() };
    assert_eq!(flags, SPAWN_FLAG_LINK | SPAWN_FLAG_MONITOR);
    let (_, payload) = peer.receive();
    let payload = payload.unwrap();
    let leader = payload.as_tuple().unwrap()[3];
    assert_eq!(PidView::of(leader), Some(own));
    peer.send(&Control::GroupLeader { leader: me, to: spawned }, None);
    peer.send(&Control::Send { from: Some(me), to: spawned, token: None }, Some(atom("stop")));
    // It was linked and monitored.
    let ends = [peer.receive().0, peer.receive().0];
    assert!(ends.iter().any(|end| matches!(end, Control::Exit { from, to, .. } if *from == spawned && *to == me)), "{ends:?}");
    assert!(ends.iter().any(|end| matches!(end, Control::MonitorExit { reference: of, .. } if *of == reference)), "{ends:?}");

    let stop = tagged(peer, "stop", atom("enough"));
    peer.ask_of(to, stop);
    let (control, payload) = peer.receive();
    assert!(matches!(control, Control::MonitorExit { reference, .. } if reference == kept), "{control:?}");
    assert_eq!(payload, Some(atom("enough")));
}

/// Has the stock node say all that it says, and gives the packets in order.
fn conversation(node: &StockNode, name: &str, flags: u64) -> Vec<Vec<u8>> {
    let mut peer = Peer::connect(node, name, flags);
    let peer = &mut peer;
    for is_traced in [false, true] {
        peer.token = is_traced.then(|| peer.new_token());
        if name != "cut" {
            messages_and_spawns(peer);
            links_and_monitors(peer);
        }
    }
    peer.token = None;
    let large = tagged(peer, "large", Term::small(140_000));
    peer.ask(large);
    peer.receive();
    std::mem::take(&mut peer.received)
}

fn messages_and_spawns(peer: &mut Peer) {
    let me = peer.pid(1);
    let float = peer.heap.float(0.5);
    let command = tagged(peer, "echo", float);
    peer.ask(command);
    peer.receive();
    peer.ask(atom("to_name"));
    peer.receive();
    let alias = peer.reference(9, 5).to_term(&mut peer.heap);
    let command = tagged(peer, "to_alias", alias);
    peer.ask(command);
    peer.receive();
    let options = peer.heap.list(&[atom("monitor"), atom("link")]);
    let command = tagged(peer, "spawn", options);
    peer.ask(command);
    let Control::SpawnRequest { reference, from, .. } = peer.receive().0 else { panic!() };
    let result = Spawned::Error(Atom::new("notsup"));
    peer.send(&Control::SpawnReply { reference, to: from, flags: 0, result, token: None }, None);
    peer.receive();
    let (module, function, token) = (Atom::new("partner"), Atom::new("reply"), peer.token);
    let reference = peer.reference(8, 3);
    let request = Control::SpawnRequest { reference, from: me, group_leader: me, module, function, arity: 2, options: Term::NIL, token };
    let arguments = [me.to_term(&mut peer.heap), Term::NIL];
    let arguments = peer.heap.list(&arguments);
    peer.send(&request, Some(arguments));
    peer.receive();
    let (_, payload) = peer.receive();
    let spawned = PidView::of(payload.unwrap().as_tuple().unwrap()[1]).unwrap();
    peer.send(&Control::Send { from: Some(me), to: spawned, token: None }, Some(atom("stop")));
}

fn links_and_monitors(peer: &mut Peer) {
    let me = peer.pid(1);
    let to = worker(peer);
    for command in ["link", "unlink"] {
        peer.ask_of(to, atom(command));
        let Control::Unlink { id, .. } = peer.receive().0 else { continue };
        peer.send(&Control::UnlinkAck { id, from: me, to }, None);
        peer.receive();
    }
    for command in ["monitor", "demonitor", "monitor_name", "demonitor", "link"] {
        peer.ask_of(to, atom(command));
        peer.receive();
    }
    let reason = peer.heap.tuple(&[atom("exit"), atom("reason")]);
    peer.ask_of(to, reason);
    peer.receive();
    let leader = to.to_term(&mut peer.heap);
    let command = tagged(peer, "leader", leader);
    peer.ask(command);
    peer.receive();
    // Stock acknowledges an unlink.
    peer.send(&Control::Link { from: peer.pid(2), to }, None);
    peer.send(&Control::Unlink { id: 5, from: peer.pid(2), to }, None);
    peer.receive();
    peer.send(&Control::Monitor { from: me, to: Target::Pid(to), reference: peer.reference(4, 3) }, None);
    let stop = tagged(peer, "stop", atom("enough"));
    peer.ask_of(to, stop);
    peer.receive();
    peer.receive();
}

/// Flags of the connections that are recorded.
const RECORDED: [(&str, u64); 4] = [
    ("recorded", ALL_FLAGS),
    ("pass", ALL_FLAGS & !(FLAG_HEADER_ATOM_CACHE | FLAG_FRAGMENTS)),
    ("old", ALL_FLAGS & !(FLAG_EXIT_PAYLOAD | FLAG_SEND_SENDER | FLAG_FRAGMENTS)),
    ("cut", ALL_FLAGS & !FLAG_HEADER_ATOM_CACHE),
];

#[test]
#[ignore = "needs HEDDLE_STOCK, a stock erl"]
fn what_a_stock_node_says_is_understood() {
    let node = StockNode::start();
    let mut text = String::new();
    for (name, flags) in RECORDED {
        let packets = conversation(&node, name, flags);
        super::recorded::describe(&mut text, flags, &packets);
    }
    if std::env::var_os("BLESS").is_some() {
        super::recorded::bless(&text);
    }
}
