//! The distribution: connections to other nodes, and signals over them. The handshake and the names of nodes are Erlang code of OTP (`net_kernel`,
//! `dist_util`, `erl_epmd`); this crate takes over when a connection is there.
//!
//! A process that sends encodes its message itself and queues it at the connection (`sending`, `out_queue`). The port that carries the connection
//! takes packets from there and writes them (`connection`). Packets that come in go from the port to the receivers, which decode the terms in
//! them (`incoming`). So a connection binds no core.

mod alive;
mod connection;
mod controllers;
mod figures;
mod flags;
mod incoming;
mod large_senders;
mod monitors;
mod natives;
mod node;
mod out_queue;
mod outgoing;
mod sending;
mod spawning;
mod table;
pub mod wire;

use heddle_runtime::{exit, nodes};

/// Makes the natives of this crate callable, and lets the runtime reach other nodes. To be called before there are processes.
pub fn register() {
    nodes::install(&sending::Distribution);
    exit::add_hook(process_ends);
    let _ = heddle_bifs::system::internal_state::OF_OTHERS.set(natives::internal_states::state);
    let natives = [
        natives::connections::TABLE,
        natives::controllers::TABLE,
        natives::figures::TABLE,
        natives::nodes::TABLE,
        natives::spawn_request::TABLE,
        natives::busy::TABLE,
    ];
    for table in natives {
        heddle_runtime::natives::register(table);
    }
}

fn process_ends(p: &mut heddle_runtime::Process) {
    controllers::process_ends(p);
    alive::process_ends(p);
}
