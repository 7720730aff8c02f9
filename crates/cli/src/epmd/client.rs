//! Questions to a server that runs.

use crate::erl;
use crate::listing::{list, list_part};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};

/// The server's answer to a request. Ends the program if there is no server.
fn ask(port: u16, request: &[u8]) -> Vec<u8> {
    let mut answer = Vec::new();
    let asked = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).and_then(|mut stream| {
        stream.write_all(&[&(request.len() as u16).to_be_bytes()[..], request].concat())?;
        stream.read_to_end(&mut answer)
    });
    if asked.is_err() && answer.is_empty() {
        erl::fail(&format!("epmd: Cannot connect to local epmd at port {port}: start a node, or epmd -daemon"));
    }
    answer
}

pub fn names(port: u16) -> ! {
    let answer = ask(port, b"n");
    list!("epmd: up and running on port {port} with data:");
    list_part!("{}", String::from_utf8_lossy(answer.get(4..).unwrap_or_default()));
    std::process::exit(0)
}

pub fn kill(port: u16) -> ! {
    match ask(port, b"k").as_slice() {
        b"OK" => {
            list!("Killed");
            std::process::exit(0)
        }
        _ => erl::fail("epmd: the server goes on: nodes are registered (epmd -names)"),
    }
}

pub fn stop(port: u16, name: &str) -> ! {
    let answer = ask(port, &[b"s", name.as_bytes()].concat());
    match answer.as_slice() {
        b"STOPPED" => {
            list!("STOPPED");
            std::process::exit(0)
        }
        b"NOEXIST" => erl::fail(&format!("epmd: no node is registered as {name}")),
        _ => erl::fail("epmd: the server does not forget nodes: it was started without -relaxed_command_check"),
    }
}
