//! Where a node listens, as epmd knows it.

use std::io::{Error, Read, Write};
use std::net::TcpStream;

/// Asks for the port of the node with this name (without its host).
pub fn port_of(host: &str, epmd_port: u16, name: &str) -> Result<u16, Error> {
    let mut stream = TcpStream::connect((host, epmd_port))?;
    let mut question = ((name.len() + 1) as u16).to_be_bytes().to_vec();
    question.push(b'z');
    question.extend_from_slice(name.as_bytes());
    stream.write_all(&question)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    match *answer {
        [b'w', 0, high, low, ..] => Ok(u16::from_be_bytes([high, low])),
        _ => Err(Error::other(format!("epmd knows no node {name}"))),
    }
}
