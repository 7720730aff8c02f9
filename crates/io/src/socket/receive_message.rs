//! `recvfrom` and `recvmsg`: data with the address that it came from, and control messages.

use super::answer::{closed, map_of, ok_with};
use super::receive_request::{request, uninterrupted};
use super::supports::MESSAGE_FLAGS;
use super::{address, bytes, control};
use crate::inet::address::Address;
use heddle_natives::long;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::Term;

heddle_runtime::natives! { TABLE:
    "prim_socket" => {
        "nif_recvfrom"/4 => receive_from,
        "nif_recvmsg"/5 => receive_message,
    }
}

/// (Socket, Bytes, Flags, Handle): `{ok, {Address, Data}}`
fn receive_from(p: &mut Process, a: &[Term]) -> NativeResult {
    let (request, [asked]) = match request(p, a) {
        Ok(known) => known,
        Err(answer) => return answer,
    };
    let mut read = request.socket.read();
    let read = &mut *read;
    if let Some(answer) = request.turn(p, read) {
        return answer;
    }
    let wanted = if asked == 0 { read.buffer_bytes } else { asked };
    long::room(p, wanted)?;
    request.tried(read);
    let fd = request.socket.fd();
    bytes::with_room(wanted, |room| {
        let mut from = Address::empty();
        let (pointer, address_len) = from.target();
        let (target, len, address_len) = (room.as_mut_ptr(), room.len(), &raw mut *address_len);
        // SAFETY: room for data and any address, as large as said.
        let got = uninterrupted(|| unsafe { libc::recvfrom(fd, target.cast(), len, request.flags(), pointer, address_len) });
        match got {
            Err(code) => request.failed(p, read, code),
            Ok(0) if request.socket.is_stream() => {
                request.socket.count(&mut read.traffic.fails, 1, "read_fails");
                Ok(closed(&mut p.heap))
            }
            Ok(got) => {
                let got = got.min(room.len());
                long::done(p, got);
                let (from, data) = (address::encode_known(&mut p.heap, &from), p.heap.binary(&room[..got]));
                request.package(read, got);
                let pair = p.heap.tuple(&[from, data]);
                Ok(ok_with(&mut p.heap, pair))
            }
        }
    })
}

/// (Socket, Bytes, ControlBytes, Flags, Handle): `{ok, #{addr, iov, ctrl, flags}}`
fn receive_message(p: &mut Process, a: &[Term]) -> NativeResult {
    let (request, [asked, asked_control]) = match request(p, a) {
        Ok(known) => known,
        Err(answer) => return answer,
    };
    let mut read = request.socket.read();
    let read = &mut *read;
    if let Some(answer) = request.turn(p, read) {
        return answer;
    }
    let wanted = if asked == 0 { read.buffer_bytes } else { asked };
    let control_bytes = if asked_control == 0 { read.control_bytes } else { asked_control };
    long::room(p, wanted.saturating_add(control_bytes))?;
    request.tried(read);
    let fd = request.socket.fd();
    bytes::with_room(wanted, |room| {
        let mut from = Address::empty();
        // Words, for the system aligns the messages.
        let mut control = vec![0u64; control_bytes.div_ceil(8)];
        let mut part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
        // SAFETY: plain numbers and pointers, for which zeros are valid.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        let (pointer, len) = from.target();
        (message.msg_name, message.msg_namelen) = (pointer.cast(), *len);
        (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
        (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), control_bytes);
        let target = &raw mut message;
        // SAFETY: what the message points to is room as large as said.
        match uninterrupted(|| unsafe { libc::recvmsg(fd, target, request.flags()) }) {
            Err(code) => request.failed(p, read, code),
            Ok(0) if request.socket.is_stream() => {
                request.socket.count(&mut read.traffic.fails, 1, "read_fails");
                Ok(closed(&mut p.heap))
            }
            Ok(got) => {
                long::done(p, got);
                *from.target().1 = message.msg_namelen;
                let heap = &mut p.heap;
                // With MSG_TRUNC the system says how long a datagram was; what there is of it is in the room.
                let data = bytes::vector(heap, &room[..got.min(room.len())]);
                let filled = message.msg_controllen.min(control_bytes);
                // SAFETY: words, of which each byte is initialised.
                let filled = unsafe { std::slice::from_raw_parts(control.as_ptr().cast::<u8>(), filled) };
                let mut fields = vec![
                    ("iov", data),
                    ("ctrl", control::decode(heap, filled)),
                    ("flags", control::flags_term(heap, message.msg_flags, MESSAGE_FLAGS)),
                ];
                if message.msg_namelen != 0 {
                    fields.push(("addr", address::encode_known(heap, &from)));
                }
                let fields = map_of(heap, &fields);
                request.package(read, got);
                Ok(ok_with(&mut p.heap, fields))
            }
        }
    })
}
