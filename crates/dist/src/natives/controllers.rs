//! Natives of processes that carry connections: the bytes of packets go through them.

use super::connections::{is_handle, of_handle};
use crate::connection::{Carrier, Connection};
use crate::controllers;
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::bits::BitsView;
use heddle_term::{Atom, Term, am};
use std::sync::Arc;
use std::sync::atomic::Ordering;

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "dist_ctrl_get_data"/1 => get_data,
        "dist_ctrl_get_data_notification"/1 => get_data_notification,
        "dist_ctrl_put_data"/2 => put_data,
        "dist_ctrl_input_handler"/2 => input_handler,
        "dist_ctrl_get_opt"/2 => get_option,
        "dist_ctrl_set_opt"/3 => set_option,
    }
}

/// The connection of the handle, which the calling process must carry.
fn carried(p: &mut Process, handle: Term) -> Result<Arc<Connection>, heddle_runtime::Thrown> {
    let Some(connection) = controllers::connection_of(p.pid()) else { return Err(p.error(Atom::new("notsup"))) };
    let named = of_handle(handle);
    if named.is_some_and(|named| named.id == connection.id) { Ok(connection) } else { Err(p.badarg()) }
}

/// The next packet: a list of binaries, or `{Size, List}` if the option `get_size` is on; or `none`.
fn get_data(p: &mut Process, a: &[Term]) -> NativeResult {
    let connection = carried(p, a[0])?;
    let Some(packet) = connection.take_one() else { return Ok(Atom::new("none").into()) };
    p.bump(packet.len() / 64);
    let data = p.heap.binary(&packet);
    let data = p.heap.list(&[data]);
    // Relaxed: only the carrier sets it.
    if !connection.gives_size.load(Ordering::Relaxed) {
        return Ok(data);
    }
    Ok(p.heap.tuple(&[Term::small(packet.len() as i64), data]))
}

/// `dist_data` comes when there is something to send.
fn get_data_notification(p: &mut Process, a: &[Term]) -> NativeResult {
    carried(p, a[0])?.want_notice();
    Ok(am::OK.into())
}

/// A packet of the peer.
fn put_data(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[1].is_cons() {
        return Err(p.trap_to(am::ERTS_INTERNAL, Atom::new("dist_ctrl_put_data"), &[a[0], a[1]]));
    }
    let Some(connection) = of_handle(a[0]) else {
        return if is_handle(a[0]) { Ok(am::OK.into()) } else { Err(p.badarg()) };
    };
    // Relaxed: a process that was named by another one is told so by a message.
    if connection.input_handler.load(Ordering::Relaxed) != p.pid() {
        return Err(p.error(Atom::new("notsup")));
    }
    if a[1].is_nil() {
        return Ok(am::OK.into());
    }
    let Some(view) = BitsView::of(a[1]).filter(|view| view.size_bits.is_multiple_of(8)) else { return Err(p.badarg()) };
    let is_good = match view.as_bytes() {
        Some(bytes) => connection.receive(bytes),
        None => connection.receive(&view.to_vec()),
    };
    if !is_good {
        connection.shut("killed");
    }
    p.bump(5);
    Ok(am::OK.into())
}

/// The process may put data in from now on.
fn input_handler(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(connection) = of_handle(a[0]) else { return Err(p.error(Atom::new("notsup"))) };
    let may = connection.is_controller(p.pid()) || matches!(connection.carrier(), Some(Carrier::Port(_)));
    if !may || !a[1].is_local_pid() {
        return Err(p.badarg());
    }
    // Relaxed: as in `put_data`.
    connection.input_handler.store(a[1].payload(), Ordering::Relaxed);
    Ok(am::OK.into())
}

fn get_option(p: &mut Process, a: &[Term]) -> NativeResult {
    let connection = carried(p, a[0])?;
    if !a[1].is_atom_of(Atom::new("get_size")) {
        return Err(p.badarg());
    }
    Ok(Term::bool(connection.gives_size.load(Ordering::Relaxed)))
}

/// Returns the value before.
fn set_option(p: &mut Process, a: &[Term]) -> NativeResult {
    let connection = carried(p, a[0])?;
    match (a[1].is_atom_of(Atom::new("get_size")), args::boolean(a[2])) {
        (true, Some(on)) => Ok(Term::bool(connection.gives_size.swap(on, Ordering::Relaxed))),
        _ => Err(p.badarg()),
    }
}
