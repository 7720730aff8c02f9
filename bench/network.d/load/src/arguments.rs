//! What the command line asks for.

use crate::protocol::Protocol;
use std::net::SocketAddr;

pub const HELP: &str =
    "usage: heddle-load --to ADDRESS:PORT [--protocol echo|http|udp|tls|tls_new] [--connections N] [--bytes N] [--seconds S]
       [--warm-up S] [--rate N] [--hold]

Without --rate each connection asks again as soon as it is answered. With --rate that many requests become due in a second, at even
distances, on the connections in turn. The latency of a request then counts from the time at which it was due, also if its connection was
still busy, so a server that stops for a while pays for every request that was due meanwhile.
With `tls` the echo goes over TLS 1.3. With `tls_new` each request has a connection of its own, which opens when the one before it has its
answer; the handshake begins when the request is due and is part of the latency.
--hold opens the connections, says so, and keeps them until the end of its input.
The figures are one line of JSON; latencies are in microseconds.";

pub struct Arguments {
    pub to: SocketAddr,
    pub protocol: Protocol,
    pub connections: usize,
    /// Of a request, except of `http`.
    pub bytes: usize,
    pub seconds: f64,
    pub warm_up: f64,
    /// Requests in a second on all connections together. None: as many as are answered.
    pub rate: Option<f64>,
    pub holds: bool,
}

impl Arguments {
    pub fn parse(mut given: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut to = None;
        let none = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut parsed = Arguments {
            to: none,
            protocol: Protocol::Echo,
            connections: 1,
            bytes: 64,
            seconds: 3.0,
            warm_up: 0.5,
            rate: None,
            holds: false,
        };
        while let Some(name) = given.next() {
            if name == "--hold" {
                parsed.holds = true;
                continue;
            }
            if name == "--help" {
                return Err(HELP.into());
            }
            let value = given.next().ok_or_else(|| format!("{name} needs a value\n{HELP}"))?;
            let wrong = || format!("{name} {value}: not a value for it\n{HELP}");
            let positive = || value.parse::<f64>().ok().filter(|number| *number > 0.0).ok_or_else(wrong);
            let count = || value.parse::<usize>().ok().filter(|number| *number > 0).ok_or_else(wrong);
            match name.as_str() {
                "--to" => to = Some(value.parse().map_err(|_| wrong())?),
                "--protocol" => parsed.protocol = Protocol::named(&value).ok_or_else(wrong)?,
                "--connections" => parsed.connections = count()?,
                "--bytes" => parsed.bytes = count()?,
                "--seconds" => parsed.seconds = positive()?,
                "--warm-up" => parsed.warm_up = positive()?,
                "--rate" => parsed.rate = Some(positive()?),
                _ => return Err(format!("there is no option {name}\n{HELP}")),
            }
        }
        parsed.to = to.ok_or_else(|| format!("--to is missing\n{HELP}"))?;
        Ok(parsed)
    }
}
