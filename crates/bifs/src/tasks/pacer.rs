//! `pacer`: passes messages on, no faster than it is told to (a token bucket).
//!
//! `heddle_task:start(pacer, #{to => Pid | Name, rate => Number, burst => N, limit => N, flush => Boolean})`
//!
//! Whatever is sent to the pacer goes to `to`, in the order in which it came: up to `burst` messages at once (default 1), and `rate` a second
//! in the long run. More than `limit` (default 10,000) do not wait: they are dropped, and counted. When it ends, by whatever exit
//! signal, what waits is passed on at once, unless `flush` is false. If `to` is a pid and that process ends, the pacer does,
//! with the reason `normal`.

use heddle_runtime::task::{Builder, Context, Definition, Monitor, Owned, Pid, Start, Task, TaskEvent, TaskNext, To, Value};
use heddle_term::Atom;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

pub static TYPE: Definition = Definition::new("pacer", start);

const USUAL_LIMIT: usize = 10_000;
/// Messages passed on in one call-back at most.
const AT_ONCE: usize = 100;

enum Target {
    Pid(Pid),
    Name(Atom),
}

struct Pacer {
    to: Target,
    /// Messages a second.
    rate: f64,
    burst: f64,
    limit: usize,
    flushes: bool,
    /// Messages that may pass now, as of `since`.
    tokens: f64,
    since: Instant,
    waiting: VecDeque<Owned>,
    passed: u64,
    dropped: u64,
    watch: Option<Monitor>,
}

fn start(start: &Start<'_>) -> Result<Box<dyn Task>, Owned> {
    let wrong = |key: &str| Owned::build(|b| b.tuple(&[b.name("bad_argument"), b.name(key)]));
    let get = |key: &str| start.args.get(Atom::new(key));
    let count = |key: &str, usual: i64, least: i64| match get(key) {
        None => Ok(usual),
        Some(value) => value.as_integer().filter(|n| *n >= least).ok_or_else(|| wrong(key)),
    };
    let to = get("to").ok_or_else(|| wrong("to"))?;
    let to = to.as_pid().map(Target::Pid).or_else(|| to.as_atom().map(Target::Name)).ok_or_else(|| wrong("to"))?;
    let rate = get("rate").and_then(Value::as_number).filter(|rate| *rate > 0.0).ok_or_else(|| wrong("rate"))?;
    let burst = count("burst", 1, 1)? as f64;
    let limit = count("limit", USUAL_LIMIT as i64, 0)? as usize;
    let flushes = match get("flush") {
        None => true,
        Some(value) if value.is("true") || value.is("false") => value.is("true"),
        Some(_) => return Err(wrong("flush")),
    };
    Ok(Box::new(Pacer {
        to,
        rate,
        burst,
        limit,
        flushes,
        tokens: burst,
        since: Instant::now(),
        waiting: VecDeque::new(),
        passed: 0,
        dropped: 0,
        watch: None,
    }))
}

impl Pacer {
    fn refill(&mut self) {
        let now = Instant::now();
        let more = now.duration_since(self.since).as_secs_f64() * self.rate;
        self.tokens = (self.tokens + more).min(self.burst);
        self.since = now;
    }

    fn pass(&mut self, message: Value<'_>, context: &mut Context<'_>) {
        let to = match self.to {
            Target::Pid(pid) => To::Pid(pid),
            Target::Name(name) => To::Name(name),
        };
        // If there is no such process the message is lost, as with `!` to a process that is gone.
        let _ = context.send(to, message);
        context.work(1);
        self.passed += 1;
    }

    /// Passes on the messages that may pass, and sets the timer for the rest.
    fn drain(&mut self, context: &mut Context<'_>) -> TaskNext {
        self.refill();
        for _ in 0..AT_ONCE {
            if self.tokens < 1.0 {
                break;
            }
            let Some(message) = self.waiting.pop_front() else { break };
            self.tokens -= 1.0;
            self.pass(message.value(), context);
        }
        if self.waiting.is_empty() {
            return TaskNext::Wait;
        }
        if self.tokens >= 1.0 {
            return TaskNext::Idle;
        }
        context.set_timer(Duration::try_from_secs_f64((1.0 - self.tokens) / self.rate).unwrap_or(Duration::MAX));
        TaskNext::Wait
    }
}

impl Task for Pacer {
    fn setup(&mut self, context: &mut Context<'_>) -> TaskNext {
        if let Target::Pid(to) = self.to {
            self.watch = Some(context.monitor(to));
        }
        TaskNext::Wait
    }

    fn handle_event(&mut self, event: TaskEvent<'_>, context: &mut Context<'_>) -> TaskNext {
        // The pacer watches no descriptors.
        let TaskEvent::Message(message) = event else { return TaskNext::Wait };
        if self.watch.is_some_and(|watch| message.is_down(watch)) {
            self.waiting.clear();
            return TaskNext::done();
        }
        if !self.waiting.is_empty() {
            if self.waiting.len() < self.limit {
                self.waiting.push_back(message.keep());
            } else {
                self.dropped += 1;
            }
            // The timer runs, or `idle` was interrupted.
            return if self.tokens >= 1.0 { TaskNext::Idle } else { TaskNext::Wait };
        }
        self.refill();
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            self.pass(message, context);
            return TaskNext::Wait;
        }
        if self.limit == 0 {
            self.dropped += 1;
            return TaskNext::Wait;
        }
        self.waiting.push_back(message.keep());
        self.drain(context)
    }

    fn idle(&mut self, context: &mut Context<'_>) -> TaskNext {
        self.drain(context)
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) -> TaskNext {
        self.drain(context)
    }

    fn handle_info<'b>(&self, b: &'b Builder) -> Value<'b> {
        b.fields(&[
            ("waiting", b.integer(self.waiting.len() as i64)),
            ("passed", b.integer(self.passed as i64)),
            ("dropped", b.integer(self.dropped as i64)),
            ("rate", b.float(self.rate)),
            ("burst", b.integer(self.burst as i64)),
        ])
    }

    fn terminate(&mut self, _: Value<'_>, context: &mut Context<'_>) {
        if self.flushes {
            while let Some(message) = self.waiting.pop_front() {
                self.pass(message.value(), context);
            }
        }
    }
}
