//! Figures on the packets of a socket, for `inet:getstat`. Calculated as in ERTS.

#[derive(Default)]
pub struct Traffic {
    pub count: u64,
    pub bytes: u64,
    /// Size of the largest packet in bytes.
    pub largest: u64,
    /// Mean size in bytes.
    average: f64,
    /// Mean of the differences between each packet's size and the mean at that time.
    deviation: f64,
}

impl Traffic {
    pub fn add(&mut self, bytes: usize) {
        let size = bytes as f64;
        self.count += 1;
        self.bytes += bytes as u64;
        self.largest = self.largest.max(bytes as u64);
        self.average += (size - self.average) / self.count as f64;
        self.deviation += ((size - self.average) - self.deviation) / self.count as f64;
    }
    pub fn average(&self) -> u64 {
        self.average as u64
    }
    pub fn deviation(&self) -> u64 {
        self.deviation.abs() as u64
    }
}

/// The reply to a request for statistics, each of which a byte names. `queued_bytes`: what waits to be written. None if a byte names none.
pub fn statistics(received: &Traffic, sent: &Traffic, queued_bytes: usize, request: &[u8]) -> Option<Vec<u8>> {
    let mut reply = Vec::new();
    for &what in request {
        reply.push(what);
        let value = match what {
            1 => received.count,
            2 => received.largest,
            3 => received.average(),
            4 => received.deviation(),
            5 => sent.count,
            6 => sent.largest,
            7 => sent.average(),
            8 => queued_bytes as u64,
            9 | 10 => {
                reply.extend(if what == 9 { received.bytes } else { sent.bytes }.to_be_bytes());
                continue;
            }
            _ => return None,
        };
        reply.extend((value as u32).to_be_bytes());
    }
    Some(reply)
}
