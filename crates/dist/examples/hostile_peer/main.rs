//! A peer that attacks a live node: `cargo run --release -p heddle-dist --example hostile_peer -- --help`.
//!
//! `tests/hostile/run` starts a node for it, and sees what becomes of the node.

mod counters;
mod epmd;
mod flood;
mod fragment_attack;
mod handshake;
mod judge;
mod link;
#[path = "../fuzz_dist/mutation.rs"]
mod mutation;
mod odd_packet;
mod options;
#[path = "../../tests/wire/random.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod random;
mod random_control;
mod random_pid;
mod session;
mod target;
mod wrong_handshake;

use counters::{Counters, Progress, add, get};
use heddle_dist::wire::AtomBudget;
use heddle_model::Random;
use heddle_term::code_hooks;
use heddle_term::node;
use options::{HELP, Options};
use session::Session;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use target::Target;
use wrong_handshake::WrongHandshake;

/// What all connections share.
struct Attack {
    options: Options,
    target: Target,
    counters: Counters,
    atoms: Arc<AtomBudget>,
    /// No new connections. Relaxed: it is seen soon enough.
    is_over: AtomicBool,
}

impl Attack {
    /// Connections, until all is over. No two workers use a name at the same time: the node gives up a connection for a new one of its name.
    fn work(&self, worker: u64) {
        let mut number = self.options.from + worker;
        while !self.is_over.load(Ordering::Relaxed) {
            self.connection(number);
            number += self.options.peers;
        }
    }

    fn connection(&self, number: u64) {
        let Attack { target, counters, options, .. } = self;
        let mut random = Random::new(options.seed.wrapping_mul(1_000_003).wrapping_add(number));
        // The first numbers of similar seeds are similar.
        (0..8).for_each(|_| _ = random.bits());
        let tells = options.only.is_some();
        let connect = || {
            if random.chance(options.wrong) {
                add(&counters.handshakes, 1);
                add(&counters.wrong_handshakes, 1);
                return WrongHandshake { target, random, number, tells }.run();
            }
            let (atoms, reactions) = (self.atoms.clone(), Random::new(number));
            Session { target, counters, atoms, random, reactions, number, tells }.run()
        };
        // The decoder is the node's as well: it must not panic.
        let done = catch_unwind(AssertUnwindSafe(connect)).unwrap_or_else(|_| Err("this program panicked".into()));
        if let Err(what) = done {
            add(&counters.failures, 1);
            println!("\nFAILED  connection {number}: {what}\n  repeat it with: {}", options.repeat(number));
            if get(&counters.failures) >= 20 {
                self.is_over.store(true, Ordering::Relaxed);
            }
        }
    }

    fn has_reached_goals(&self, seconds: f64) -> bool {
        let Options { frames, handshakes, time, .. } = &self.options;
        let reached = |goal: &Option<u64>, counter| goal.is_none_or(|goal| get(counter) >= goal);
        let has_goal = frames.is_some() || handshakes.is_some();
        seconds >= time.as_secs_f64()
            || has_goal && reached(frames, &self.counters.frames) && reached(handshakes, &self.counters.handshakes)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let found = Options::parse(&arguments).and_then(|options| match Target::new(&options) {
        Ok(target) => Ok((options, target)),
        Err(error) => {
            Err(format!("{}: {error}; is the node running, and is the epmd that knows it at port {}?", options.node, options.epmd_port))
        }
    });
    let (options, target) = match found {
        Ok(found) => found,
        Err(what) => {
            eprintln!("hostile_peer: {what}");
            return ExitCode::from(2);
        }
    };
    code_hooks::install(code_hooks::ONE_FOR_ALL);
    run(options, target)
}

/// The creation of the node, which a right handshake tells.
fn creation_of(target: &Target) -> Result<u32, String> {
    let wish = handshake::Wish::right(&target.name(0), 4, handshake::ALL_FLAGS, &target.cookie);
    let made =
        handshake::connect(&target.host, target.port, target.patience).and_then(|mut stream| wish.make(&mut stream, &mut Random::new(1)));
    match made {
        Ok(handshake::Ending::Up { creation, .. }) => Ok(creation),
        Ok(other) => Err(format!("the node refuses a right handshake (is the cookie right?): {other:?}")),
        Err(error) => Err(error.to_string()),
    }
}

fn run(options: Options, target: Target) -> ExitCode {
    let creation = match creation_of(&target) {
        Ok(creation) => creation,
        Err(what) => {
            println!("FAILED  {what}");
            return ExitCode::FAILURE;
        }
    };
    // Terms are read as the node reads them: its pids are the local ones.
    node::set_current(target.atom(), creation);
    let only = options.only;
    let atoms = Arc::new(AtomBudget::new(options.atoms));
    let attack = Attack { options, target, counters: Counters::default(), atoms, is_over: AtomicBool::new(false) };
    let mut progress = Progress::new();
    if let Err(what) = flood::single(&attack.options, &attack.target, &attack.counters) {
        add(&attack.counters.failures, 1);
        println!("FAILED  {what}");
    } else if let Some(only) = only {
        attack.connection(only);
    } else if attack.options.flood.is_none() && attack.options.kill.is_none() {
        std::thread::scope(|scope| {
            let attack = &attack;
            (0..attack.options.peers).for_each(|worker| _ = scope.spawn(move || attack.work(worker)));
            while !attack.is_over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(50));
                progress.show(&attack.counters);
                if attack.has_reached_goals(progress.seconds()) {
                    attack.is_over.store(true, Ordering::Relaxed);
                }
            }
        });
    }
    progress.clear();
    println!("@counts {}", attack.counters.json(progress.seconds()));
    if get(&attack.counters.failures) > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
