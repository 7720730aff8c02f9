//! Names and addresses of hosts, as the system's own resolver knows them: the work of OTP's program `inet_gethost`, done on threads of
//! the VM. OTP's `inet_gethost_native` opens that program as a port. Here the port is this driver instead, so names resolve even where
//! the programs of the OTP tree do not run because they need another libc. The driver speaks the program's protocol:
//!
//! | request | `[Serial:32, Operation, Family, ..]` |
//! |---|---|
//! | 1 | a name that ends with 0, as addresses |
//! | 2 | an address, as names |
//! | 3, 4 | a request is cancelled; a debug level. Nothing is done |
//!
//! A reply is `[Serial:32, Bytes of an address, Count:32, Addresses, Count:32, Names that end with 0]` or `[Serial:32, 0, Reason]`.

use crate::ports::driver::{After, Driver, DriverEntry, DriverName};
use crate::ports::frame::Piece;
use crate::ports::port::Port;
use heddle_runtime::qsbr;
use heddle_runtime::task::Context;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::zeroed;
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

pub const ENTRY: DriverEntry = DriverEntry {
    is_meant: |name| matches!(name, DriverName::Executable(program) if is_meant(program)),
    open: |_, options| {
        let threads = options.args.iter().flatten().next().and_then(|first| first.to_str()?.parse().ok());
        Ok(Box::new(Resolver::new(threads)))
    },
};

const NAME_TO_ADDRESSES: u8 = 1;
const ADDRESS_TO_NAMES: u8 = 2;
const IPV4: u8 = 1;

/// Room for an answer of the name servers.
const BUFFER_BYTES: usize = 64 << 10;
/// Requests that are done at a time, if the port's arguments do not say.
const THREADS: usize = 4;
const MAX_THREADS: usize = 64;

// SAFETY: declared as in the system's netdb.h.
unsafe extern "C" {
    fn gethostbyname_r(
        name: *const c_char,
        result: *mut libc::hostent,
        buffer: *mut c_char,
        bytes: usize,
        found: *mut *mut libc::hostent,
        error: *mut c_int,
    ) -> c_int;
    fn gethostbyaddr_r(
        address: *const c_void,
        length: libc::socklen_t,
        family: c_int,
        result: *mut libc::hostent,
        buffer: *mut c_char,
        bytes: usize,
        found: *mut *mut libc::hostent,
        error: *mut c_int,
    ) -> c_int;
}

/// True if this is the program `inet_gethost` of an OTP tree, which the driver replaces.
fn is_meant(program: &Path) -> bool {
    let names: Vec<&str> = program.iter().rev().take(3).filter_map(|name| name.to_str()).collect();
    matches!(names[..], ["inet_gethost", "bin", erts] if erts.starts_with("erts-"))
}

/// The port that asks, and its request.
type Request = (Arc<Port>, Vec<u8>);

struct Resolver {
    requests: Sender<Request>,
    waiting: Arc<Mutex<Receiver<Request>>>,
    threads: usize,
    max_threads: usize,
}

impl Resolver {
    /// `threads`: the program's first argument, if it is a number.
    fn new(threads: Option<usize>) -> Resolver {
        let (requests, waiting) = channel();
        let max_threads = threads.unwrap_or(THREADS).clamp(1, MAX_THREADS);
        Resolver { requests, waiting: Arc::new(Mutex::new(waiting)), threads: 0, max_threads }
    }

    /// Hands the request to a thread. The answer comes as data from the port.
    fn ask(&mut self, port: &Arc<Port>, request: Vec<u8>) {
        if !matches!(request.get(4), Some(&(NAME_TO_ADDRESSES | ADDRESS_TO_NAMES))) {
            return;
        }
        if self.threads < self.max_threads {
            let waiting = self.waiting.clone();
            let started = std::thread::Builder::new().name("resolver".into()).spawn(move || work(&waiting));
            self.threads += usize::from(started.is_ok());
        }
        let _ = self.requests.send((port.clone(), request));
    }
}

impl Driver for Resolver {
    fn command(&mut self, port: &Arc<Port>, _: Option<u64>, request: Vec<u8>, _: &mut Context<'_>) -> Option<After> {
        self.ask(port, request);
        Some(After::Continue)
    }
}

/// A thread's work: answers requests until the port is gone.
fn work(waiting: &Mutex<Receiver<Request>>) {
    loop {
        let next = waiting.lock().unwrap().recv();
        let Ok((port, request)) = next else { return };
        let reply = answer(&request);
        let _guard = qsbr::guard();
        port.request(move |task, context| {
            task.with::<Resolver>(context, |_, port, _| {
                port.deliver(Piece::Data(&reply));
                After::Continue
            })
        });
    }
}

/// What is known of a host.
struct Host {
    address_bytes: usize,
    addresses: Vec<Vec<u8>>,
    names: Vec<Vec<u8>>,
}

fn answer(request: &[u8]) -> Vec<u8> {
    let (serial, rest) = request.split_at(4);
    let found = match *rest {
        [NAME_TO_ADDRESSES, family, ref name @ ..] => match CString::new(name.strip_suffix(&[0]).unwrap_or(name)) {
            Ok(name) if family == IPV4 => v4_of(&name),
            Ok(name) => v6_of(&name),
            Err(_) => Err("notfound"),
        },
        [_, _, ref address @ ..] => names_of(address),
        _ => Err("formerr"),
    };
    let mut reply = serial.to_vec();
    match found {
        Ok(host) => {
            reply.push(host.address_bytes as u8);
            reply.extend((host.addresses.len() as u32).to_be_bytes());
            reply.extend(host.addresses.concat());
            reply.extend((host.names.len() as u32).to_be_bytes());
            host.names.iter().for_each(|name| reply.extend(name.iter().chain(&[0])));
        }
        Err(reason) => {
            reply.push(0);
            reply.extend(reason.bytes().chain([0]));
        }
    }
    reply
}

/// Calls one of the functions above.
fn entry(
    call: impl FnOnce(*mut libc::hostent, *mut c_char, usize, *mut *mut libc::hostent, *mut c_int) -> c_int,
) -> Result<Host, &'static str> {
    let (mut buffer, mut found, mut error) = (vec![0 as c_char; BUFFER_BYTES], null_mut(), 0);
    // SAFETY: plain numbers and pointers, for which zeros are valid.
    let mut result: libc::hostent = unsafe { zeroed() };
    let code = call(&raw mut result, buffer.as_mut_ptr(), buffer.len(), &raw mut found, &raw mut error);
    if code != 0 || found.is_null() {
        // HOST_NOT_FOUND, TRY_AGAIN, NO_RECOVERY, NO_DATA.
        return Err(["netdb_internal", "notfound", "try_again", "no_recovery", "no_data"].get(error as usize).unwrap_or(&"netdb_internal"));
    }
    // SAFETY: it was filled in: names are texts, and both lists end with a null; all of it is in `buffer`.
    unsafe {
        let address_bytes = result.h_length as usize;
        let mut host = Host { address_bytes, addresses: Vec::new(), names: vec![CStr::from_ptr(result.h_name).to_bytes().to_vec()] };
        for i in 0.. {
            let address: *const u8 = (*result.h_addr_list.add(i)).cast();
            if address.is_null() {
                break;
            }
            host.addresses.push(std::slice::from_raw_parts(address, address_bytes).to_vec());
        }
        for i in 0.. {
            let alias = *result.h_aliases.add(i);
            if alias.is_null() {
                break;
            }
            host.names.push(CStr::from_ptr(alias).to_bytes().to_vec());
        }
        Ok(host)
    }
}

fn v4_of(name: &CStr) -> Result<Host, &'static str> {
    // SAFETY: the name lives; the rest is room for the answer.
    entry(|result, buffer, bytes, found, error| unsafe { gethostbyname_r(name.as_ptr(), result, buffer, bytes, found, error) })
}

fn v6_of(name: &CStr) -> Result<Host, &'static str> {
    // SAFETY: all zeros are a valid `addrinfo`.
    let mut hints: libc::addrinfo = unsafe { zeroed() };
    (hints.ai_flags, hints.ai_socktype, hints.ai_family) = (libc::AI_CANONNAME, libc::SOCK_STREAM, libc::AF_INET6);
    let mut first = null_mut();
    // SAFETY: the name lives; what is found is freed below.
    let code = unsafe { libc::getaddrinfo(name.as_ptr(), null(), &raw const hints, &raw mut first) };
    if code != 0 {
        return Err(reason_of(code));
    }
    let mut host = Host { address_bytes: 16, addresses: Vec::new(), names: Vec::new() };
    let mut next = first;
    // SAFETY: a list of what the system filled in, each with an address of the family that was asked for.
    unsafe {
        while let Some(info) = next.as_ref() {
            if info.ai_family == libc::AF_INET6 && !info.ai_addr.is_null() {
                host.addresses.push((*info.ai_addr.cast::<libc::sockaddr_in6>()).sin6_addr.s6_addr.to_vec());
            }
            if !info.ai_canonname.is_null() {
                host.names.push(CStr::from_ptr(info.ai_canonname).to_bytes().to_vec());
            }
            next = info.ai_next;
        }
        libc::freeaddrinfo(first);
    }
    Ok(host)
}

fn names_of(address: &[u8]) -> Result<Host, &'static str> {
    if address.len() == 4 {
        // SAFETY: four bytes of an address; the rest is room for the answer.
        return entry(|result, buffer, bytes, found, error| unsafe {
            gethostbyaddr_r(address.as_ptr().cast(), 4, libc::AF_INET, result, buffer, bytes, found, error)
        });
    }
    let Ok(bytes) = <[u8; 16]>::try_from(address) else { return Err("formerr") };
    // SAFETY: plain numbers.
    let mut socket: libc::sockaddr_in6 = unsafe { zeroed() };
    socket.sin6_family = libc::AF_INET6 as libc::sa_family_t;
    socket.sin6_addr.s6_addr = bytes;
    let (mut name, length) = ([0 as c_char; 1025], size_of::<libc::sockaddr_in6>() as libc::socklen_t);
    // SAFETY: an address as long as said, and room for a name.
    let code = unsafe {
        let socket = (&raw const socket).cast();
        libc::getnameinfo(socket, length, name.as_mut_ptr(), name.len() as libc::socklen_t, null_mut(), 0, libc::NI_NAMEREQD)
    };
    if code != 0 {
        return Err(reason_of(code));
    }
    // SAFETY: it was filled in, with a zero at its end.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_bytes().to_vec();
    Ok(Host { address_bytes: 16, addresses: vec![bytes.to_vec()], names: vec![name] })
}

/// The name that stock's program has for an error of the resolver.
fn reason_of(code: c_int) -> &'static str {
    match code {
        libc::EAI_AGAIN => "try_again",
        libc::EAI_FAIL | libc::EAI_NONAME | libc::EAI_NODATA => "notfound",
        _ => "netdb_internal",
    }
}

#[cfg(test)]
mod tests {
    use super::{answer, is_meant};
    use std::path::Path;

    #[test]
    fn numbers_are_names_of_themselves() {
        let reply = answer(b"\0\0\0\x07\x01\x01127.0.0.1\0");
        assert_eq!(reply[..13], [0, 0, 0, 7, 4, 0, 0, 0, 1, 127, 0, 0, 1]);
        let reply = answer(b"\0\0\0\x08\x01\x02::1\0");
        assert_eq!(reply[..9], [0, 0, 0, 8, 16, 0, 0, 0, 1]);
        let reply = answer(b"\0\0\0\x09\x01\x01no such name\0");
        assert_eq!(reply[..5], [0, 0, 0, 9, 0], "{reply:?}");
    }

    #[test]
    fn only_the_program_of_a_tree_is_meant() {
        assert!(is_meant(Path::new("/usr/lib/erlang/erts-15.2/bin/inet_gethost")));
        assert!(!is_meant(Path::new("/home/me/bin/inet_gethost")));
        assert!(!is_meant(Path::new("/usr/lib/erlang/erts-15.2/bin/heart")));
    }
}
