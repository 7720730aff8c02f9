//! Messages of sockets to processes, and to the registry of sockets.

use super::answer::atom;
use super::requestors::Requestor;
use super::socket::Socket;
use heddle_runtime::names;
use heddle_runtime::send::build_message;
use heddle_term::{Atom, Heap, Term};
use std::sync::{Arc, LazyLock};

/// `$socket`
static TAG: LazyLock<Atom> = LazyLock::new(|| Atom::new("$socket"));
static SELECT: LazyLock<Atom> = LazyLock::new(|| Atom::new("select"));
static REGISTRY: LazyLock<Atom> = LazyLock::new(|| Atom::new("socket_registry"));

/// `{'$socket', Reference}`
fn socket_term(heap: &mut Heap, socket: &Arc<Socket>) -> Term {
    let reference = socket.term(heap);
    heap.tuple(&[(*TAG).into(), reference])
}

/// `{'$socket', Socket, What, Info}`
fn tell(pid: u64, socket: &Arc<Socket>, what: Term, info: impl FnOnce(&mut Heap) -> Term) {
    build_message(pid, |heap| {
        let (socket, info) = (socket_term(heap, socket), info(heap));
        heap.tuple(&[(*TAG).into(), socket, what, info])
    });
}

/// The socket is ready for the operation.
pub fn select(socket: &Arc<Socket>, to: Requestor) {
    tell(to.pid, socket, (*SELECT).into(), |heap| to.handle.term(heap));
}

/// The operation ends without a result; the reason is the name of an error.
pub fn abort(socket: &Arc<Socket>, to: Requestor, reason: &str) {
    tell(to.pid, socket, atom("abort"), |heap| {
        let handle = to.handle.term(heap);
        heap.tuple(&[handle, atom(reason)])
    });
}

/// A counter began again.
pub fn counter_wrap(socket: &Arc<Socket>, owner: u64, counter: &str) {
    tell(owner, socket, atom("counter_wrap"), |_| atom(counter));
}

/// `{'$socket', What, Socket}` to the registry.
fn tell_registry(what: &str, socket: &Arc<Socket>) {
    if let Some(registry) = names::whereis(*REGISTRY).filter(|registry| registry.is_local_pid()) {
        build_message(registry.payload(), |heap| {
            let socket = socket_term(heap, socket);
            heap.tuple(&[(*TAG).into(), atom(what), socket])
        });
    }
}

pub fn registry_add(socket: &Arc<Socket>) {
    tell_registry("add", socket);
}

pub fn registry_delete(socket: &Arc<Socket>) {
    tell_registry("del", socket);
}
