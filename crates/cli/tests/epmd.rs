//! The name server of nodes, asked by bytes and by its own program.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(options: &[&str]) -> Server {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr()).expect("a free port").port();
        let child = program(port).args(options).stdin(Stdio::null()).spawn().expect("heddle starts");
        let begun = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(20), "the server does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        Server { child, port }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
        stream
    }

    /// The whole answer to a request.
    fn ask(&self, request: &[u8]) -> Vec<u8> {
        let (mut stream, mut answer) = (self.connect(), Vec::new());
        send(&mut stream, request);
        stream.read_to_end(&mut answer).expect("an answer");
        answer
    }

    /// The connection that keeps the name, and the reply.
    fn register(&self, name: &str, highest: u16) -> (TcpStream, Vec<u8>) {
        let mut stream = self.connect();
        let mut request = vec![120, 0x30, 0x39, 77, 0];
        request.extend(highest.to_be_bytes());
        request.extend(5u16.to_be_bytes());
        request.extend((name.len() as u16).to_be_bytes());
        request.extend(name.as_bytes());
        request.extend(0u16.to_be_bytes());
        send(&mut stream, &request);
        let mut reply = vec![0; if highest >= 6 { 6 } else { 4 }];
        stream.read_exact(&mut reply).expect("a reply");
        (stream, reply)
    }

    fn says(&self, arguments: &[&str]) -> Output {
        program(self.port).args(arguments).output().expect("heddle starts")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program(port: u16) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.arg("epmd").env("ERL_EPMD_PORT", port.to_string()).env_remove("ERL_EPMD_ADDRESS");
    command
}

fn send(stream: &mut TcpStream, request: &[u8]) {
    stream.write_all(&[&(request.len() as u16).to_be_bytes()[..], request].concat()).expect("the server reads");
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn names_are_kept_as_long_as_their_connections() {
    let server = Server::start(&[]);
    assert_eq!(server.ask(b"zone"), [119, 1]);
    let (kept, reply) = server.register("one", 6);
    assert_eq!(reply[..2], [118, 0]);
    let (_, again) = server.register("one", 6);
    assert_eq!(again[..2], [118, 1]);
    let (_old, old) = server.register("old", 5);
    assert_eq!(old[..2], [121, 0]);
    assert_eq!(server.ask(b"zone"), [&[119, 0, 0x30, 0x39, 77, 0, 0, 6, 0, 5, 0, 3][..], b"one\0\0"].concat());
    let listed = text(&server.says(&["-names"]));
    assert!(listed.contains("name old at port 12345\nname one at port 12345\n"), "{listed}");
    assert!(!server.says(&["-kill"]).status.success());
    drop(kept);
    let begun = Instant::now();
    while server.ask(b"zone") != [119, 1] {
        assert!(begun.elapsed() < Duration::from_secs(20), "the name is kept");
    }
    let (_kept, reply) = server.register("one", 6);
    assert_eq!(reply[..2], [118, 0]);
}

#[test]
fn it_ends_when_it_is_told_to_and_not_by_what_is_no_request() {
    let mut server = Server::start(&["-relaxed_command_check"]);
    assert_eq!(server.ask(b"?"), b"");
    assert_eq!(server.ask(&[120, 1, 2]), b"");
    let (_kept, _) = server.register("one", 6);
    assert_eq!(text(&server.says(&["-stop", "one"])), "STOPPED\n");
    assert_eq!(server.ask(b"zone"), [119, 1]);
    // A second server leaves the port to the first.
    assert!(server.says(&["-daemon"]).status.success());
    assert!(!server.says(&[]).status.success());
    assert_eq!(text(&server.says(&["-kill"])), "Killed\n");
    assert!(server.child.wait().expect("it ends").success());
}

#[test]
fn it_listens_for_this_computer_in_ipv4_and_ipv6_whatever_addresses_it_gets() {
    for list in ["127.0.0.1", "::1", "127.0.0.1, ::1"] {
        let server = Server::start(&["-address", list]);
        let has_ipv6 = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok();
        assert_eq!(TcpStream::connect((Ipv6Addr::LOCALHOST, server.port)).is_ok(), has_ipv6, "with {list}");
    }
}

#[test]
fn a_wrong_option_is_named() {
    let output = program(1).arg("-nonsense").output().expect("heddle starts");
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("-nonsense"));
}
