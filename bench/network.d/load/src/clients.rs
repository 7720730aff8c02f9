//! All connections, and what was measured on them.

use crate::arguments::Arguments;
use crate::connection::{Connection, Step};
use crate::pace::Pace;
use crate::protocol::Protocol;
use crate::readiness::Readiness;
use hdrhistogram::Histogram;
use std::io::{Error, Result};
use std::time::{Duration, Instant};

pub struct Clients<'a> {
    arguments: &'a Arguments,
    connections: Vec<Connection>,
    readiness: Readiness,
    request: Vec<u8>,
    latencies: Histogram<u64>,
    lost: u64,
}

pub struct Figures {
    answered: u64,
    seconds: f64,
    lost: u64,
    /// Requests that were due and not answered at the end.
    left: usize,
    /// Microseconds: of half of the requests, of 99 in 100, of 999 in 1,000, of all.
    latencies: [f64; 4],
}

/// A datagram that is not answered for this long is lost.
const LOST: Duration = Duration::from_millis(200);

impl<'a> Clients<'a> {
    pub fn connect(arguments: &'a Arguments) -> Result<Clients<'a>> {
        let readiness = Readiness::new()?;
        let mut connections = Vec::new();
        for number in 0..arguments.connections {
            let opened = Connection::open(arguments.to, arguments.protocol)
                .map_err(|error| Error::new(error.kind(), format!("connection {}: {error}", number + 1)))?;
            readiness.add(opened.fd(), number)?;
            connections.push(opened);
        }
        let latencies = Histogram::new(3).map_err(Error::other)?;
        Ok(Clients { arguments, connections, readiness, request: arguments.protocol.request(arguments.bytes), latencies, lost: 0 })
    }

    pub fn count(&self) -> usize {
        self.connections.len()
    }

    pub fn run(&mut self) -> Result<Figures> {
        let begun = Instant::now();
        let measured = begun + Duration::from_secs_f64(self.arguments.warm_up);
        let end = measured + Duration::from_secs_f64(self.arguments.seconds);
        let mut pace = self.arguments.rate.map(|rate| Pace::new(begun, rate));
        let mut ready = Vec::new();
        if pace.is_none() {
            for number in 0..self.count() {
                self.connections[number].add(Instant::now());
                ready.push(number);
            }
        }
        let mut looked = begun;
        loop {
            for number in ready.drain(..) {
                self.serve(number, measured)?;
            }
            let now = Instant::now();
            if now >= end {
                break;
            }
            while let Some((number, due)) = pace.as_mut().and_then(|pace| pace.take(now)) {
                let number = number as usize % self.count();
                self.connections[number].add(due);
                if self.connections[number].outstanding() == 1 {
                    self.serve(number, measured)?;
                }
            }
            if self.arguments.protocol == Protocol::Udp && now.duration_since(looked) > LOST {
                looked = now;
                self.look_for_lost(now, measured)?;
            }
            let until = pace.as_ref().map_or(end, |pace| pace.next_due().min(end)).min(now + LOST);
            self.readiness.wait(until.saturating_duration_since(Instant::now()), &mut ready)?;
        }
        Ok(self.figures())
    }

    /// Steps a connection until it waits. Answers that come before `measured` do not count.
    fn serve(&mut self, number: usize, measured: Instant) -> Result<()> {
        loop {
            let connection = &mut self.connections[number];
            match connection.step(&self.request) {
                Step::Waits => return Ok(()),
                Step::Failed(problem) => return Err(Error::other(format!("connection {}: {problem}", number + 1))),
                Step::Answered(due) => {
                    let now = Instant::now();
                    if now >= measured {
                        self.latencies.record(now.duration_since(due).as_nanos() as u64).map_err(Error::other)?;
                    }
                    if self.arguments.protocol == Protocol::TlsNew {
                        connection.open_again(self.arguments.to)?;
                        self.readiness.add(connection.fd(), number)?;
                    }
                    if self.arguments.rate.is_none() {
                        connection.add(now);
                    }
                }
            }
        }
    }

    fn look_for_lost(&mut self, now: Instant, measured: Instant) -> Result<()> {
        for number in 0..self.count() {
            if self.connections[number].drop_lost(now, LOST) {
                self.lost += 1;
                if self.arguments.rate.is_none() {
                    self.connections[number].add(now);
                }
                self.serve(number, measured)?;
            }
        }
        Ok(())
    }

    fn figures(&self) -> Figures {
        let left = self.connections.iter().map(Connection::outstanding).sum();
        let at = |quantile| self.latencies.value_at_quantile(quantile) as f64 / 1000.0;
        let latencies = [at(0.5), at(0.99), at(0.999), self.latencies.max() as f64 / 1000.0];
        Figures { answered: self.latencies.len(), seconds: self.arguments.seconds, lost: self.lost, left, latencies }
    }
}

impl Figures {
    pub fn json(&self) -> String {
        let [half, most, nearly_all, all] = self.latencies;
        format!(
            "{{\"answered\": {}, \"per_second\": {:.1}, \"lost\": {}, \"left\": {}, \"p50_us\": {half:.1}, \"p99_us\": {most:.1}, \
             \"p999_us\": {nearly_all:.1}, \"max_us\": {all:.1}}}",
            self.answered,
            self.answered as f64 / self.seconds,
            self.lost,
            self.left
        )
    }
}
