//! What was done so far, and a line that shows it.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// Relaxed: each is only shown, or compared with a goal.
        #[derive(Default)]
        pub struct Counters {
            $($(#[$doc])* pub $name: AtomicU64,)*
        }

        impl Counters {
            /// As JSON, with `seconds`.
            pub fn json(&self, seconds: f64) -> String {
                let mut text = format!("{{\"seconds\": {seconds:.1}");
                $(text += &format!(", \"{}\": {}", stringify!($name), self.$name.load(Ordering::Relaxed));)*
                text + "}"
            }
        }
    };
}

counters! {
    /// Packets that were sent on established connections.
    frames,
    /// Of these, with bytes changed.
    mutated,
    /// Of these, such as break the protocol.
    refused,
    /// Fragments of messages.
    fragments,
    bytes,
    /// Handshakes, right and wrong.
    handshakes,
    wrong_handshakes,
    /// Right handshakes for which the node was not ready: it knew the name from another connection.
    not_now,
    /// Right handshakes that the node broke off. They are made again.
    broken_off,
    sessions,
    /// Answers to monitors, which show that the node has read all before them.
    answers,
    /// Packets of the node.
    received,
    spawned,
    failures,
}

pub fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

pub fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// Shows the counters now and then: on a terminal each second on one line, else each ten seconds on a new one.
pub struct Progress {
    begun: Instant,
    shown: Instant,
    is_terminal: bool,
}

impl Progress {
    pub fn new() -> Progress {
        Progress { begun: Instant::now(), shown: Instant::now(), is_terminal: std::io::stdout().is_terminal() }
    }

    pub fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    pub fn show(&mut self, counters: &Counters) {
        let pause = Duration::from_secs(if self.is_terminal { 1 } else { 10 });
        if self.shown.elapsed() < pause {
            return;
        }
        self.shown = Instant::now();
        let (frames, handshakes) = (get(&counters.frames), get(&counters.handshakes));
        let (end, start) = if self.is_terminal { ("", "\r\x1b[K") } else { ("\n", "") };
        print!(
            "{start}{:.0} s: {frames} frames ({:.0} a second), {handshakes} handshakes ({:.0} a second), {} failures{end}",
            self.seconds(),
            frames as f64 / self.seconds(),
            handshakes as f64 / self.seconds(),
            get(&counters.failures)
        );
        let _ = std::io::stdout().flush();
    }

    /// Begins a new line, if the last one shows the counters.
    pub fn clear(&self) {
        if self.is_terminal {
            print!("\r\x1b[K");
        }
    }
}
