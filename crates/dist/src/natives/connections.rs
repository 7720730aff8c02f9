//! Natives of the code that makes connections: `net_kernel` and `dist_util`.

use crate::connection::{Carrier, Connection, PortChannel, Stage};
use crate::natives::nodes::is_node_name;
use crate::{alive, flags, table};
use heddle_io::ports::{self, channel};
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::{Package, exit, send, task};
use heddle_term::{Atom, Term, am, big};
use std::sync::Arc;

heddle_runtime::natives! { TABLE:
    "erts_internal" => {
        "get_dflags"/0 => get_dflags,
        "new_connection"/1 => new_connection,
        "abort_pending_connection"/2 => abort_pending_connection,
        "create_dist_channel"/3 => create_dist_channel,
    }
    "erlang" => { "dist_get_stat"/1 => dist_get_stat }
}

/// The connection of a handle, `[Number | Node]`, as long as it has not ended.
pub fn of_handle(handle: Term) -> Option<Arc<Connection>> {
    if !handle.is_cons() {
        return None;
    }
    let (number, node) = (args::count(handle.head())?, handle.tail().as_atom()?);
    table::find(node)?.numbered(u32::try_from(number).ok()?)
}

/// True if it is a handle, perhaps of a connection that has ended.
pub fn is_handle(handle: Term) -> bool {
    handle.is_cons() && args::count(handle.head()).is_some() && handle.tail().is_atom()
}

fn get_dflags(p: &mut Process, _: &[Term]) -> NativeResult {
    let sets = [flags::DEFAULT, flags::MANDATORY, flags::DEFAULT, flags::REJECTABLE, flags::STRICT_ORDER];
    let mut fields = vec![Atom::new("erts_dflags").into()];
    fields.extend(sets.map(|set| p.heap.unsigned(set)));
    Ok(p.heap.tuple(&fields))
}

/// The handle of the connection to the node, or of a new one.
fn new_connection(p: &mut Process, a: &[Term]) -> NativeResult {
    let node = a[0].as_atom().filter(|&name| is_node_name(name) && name != heddle_term::node::name());
    let Some(node) = node else { return Err(p.badarg()) };
    let (connection, _) = table::find_or_add(node).connection_or_new();
    Ok(connection.handle(&mut p.heap))
}

/// True unless it is up.
fn abort_pending_connection(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[0].is_atom() || !is_handle(a[1]) {
        return Err(p.badarg());
    }
    let Some(connection) = of_handle(a[1]) else { return Ok(Term::bool(true)) };
    match connection.stage() {
        Stage::Pending => {
            connection.ended(am::NOCONNECTION.into());
            Ok(Term::bool(true))
        }
        Stage::Ended => Ok(Term::bool(true)),
        Stage::Up => Ok(Term::bool(false)),
    }
}

/// `(Node, Port or process, {Flags, Creation})`: what the two nodes say to each other goes this way from now on. The result is `{ok, Handle}`, for
/// another process `{message, Reference}`, or `badarg`.
fn create_dist_channel(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(answer) = task::answer(p, a) {
        return answer;
    }
    let badarg = Ok(am::BADARG.into());
    let (Some(kernel), Some(node)) = (alive::net_kernel(), a[0].as_atom().filter(|&node| is_node_name(node))) else { return badarg };
    let Some(&[flags, creation]) = a[2].as_tuple() else { return badarg };
    let (Some(flags), Some(creation)) = (big::to_u64(flags), big::to_u64(creation)) else { return badarg };
    if flags & flags::MANDATORY != flags::MANDATORY {
        exit::log_of(
            p,
            "error",
            &format!(
                "{} attempted to enable connection to node {} which does not support all mandatory capabilities.",
                text(p.pid_term()),
                node.name()
            ),
        );
        return badarg;
    }
    let Some(connection) = table::find(node).and_then(|node| node.connection()).filter(|connection| connection.stage() == Stage::Pending)
    else {
        return badarg;
    };
    connection.set_creation(creation as u32);
    let (carrier, me) = (a[1], p.pid());
    if carrier.is_local_pid() {
        return by_process(p, &connection, carrier, flags, kernel);
    }
    let Some(port) = ports::find(carrier) else { return badarg };
    task::expect_answer(p);
    channel::carry(carrier, Arc::new(PortChannel(connection.clone())), move |carries| {
        let is_up = carries && connection.up(Carrier::Port(port), flags);
        if is_up {
            tell_kernel(kernel, carrier, node, me);
        }
        let answer = Package::build(|heap| {
            if !is_up {
                return am::BADARG.into();
            }
            let handle = connection.handle(heap);
            heap.tuple(&[am::OK.into(), handle])
        });
        task::answer_to(me, answer);
    });
    Err(task::wait(p, a))
}

fn text(term: Term) -> String {
    heddle_term::text::display::to_string(term)
}

/// A process carries the connection.
fn by_process(p: &mut Process, connection: &Arc<Connection>, carrier: Term, flags: u64, kernel: u64) -> NativeResult {
    let (me, node, controller) = (p.pid(), connection.id.node, carrier.payload());
    if controller == me {
        if !crate::controllers::begin(controller, connection, flags) {
            return Ok(am::BADARG.into());
        }
        tell_kernel(kernel, carrier, node, me);
        let handle = connection.handle(&mut p.heap);
        return Ok(p.heap.tuple(&[am::OK.into(), handle]));
    }
    let (reference, id) = send::fresh_reference(&mut p.heap);
    let connection = connection.clone();
    send::ask(p, controller, move |process| {
        let is_up = process.is_some() && crate::controllers::begin(controller, &connection, flags);
        if is_up {
            tell_kernel(kernel, carrier, node, me);
        }
        send::build_message(me, |heap| {
            let reference = heap.reference(id.words());
            let result = if is_up { connection.handle(heap) } else { am::BADARG.into() };
            heap.tuple(&[reference, result])
        });
    });
    Ok(p.heap.tuple(&[Atom::new("message").into(), reference]))
}

/// `net_kernel` watches what carries connections.
fn tell_kernel(kernel: u64, carrier: Term, node: Atom, setup: u64) {
    send::build_message(kernel, |heap| heap.tuple(&[Atom::new("dist_ctrlr").into(), carrier, node.into(), Term::local_pid(setup)]));
}

/// `{ok, PacketsIn, PacketsOut, BytesQueued}`
fn dist_get_stat(p: &mut Process, a: &[Term]) -> NativeResult {
    use std::sync::atomic::Ordering::Relaxed;
    let Some(connection) = of_handle(a[0]) else { return Err(p.badarg()) };
    let figures = [connection.received.load(Relaxed), connection.sent.load(Relaxed), connection.queued_bytes() as u64];
    let [received, sent, queued] = figures.map(|figure| p.heap.unsigned(figure));
    Ok(p.heap.tuple(&[am::OK.into(), received, sent, queued]))
}
