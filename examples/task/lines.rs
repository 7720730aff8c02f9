//! A program of one's own with Heddle in it: the whole VM, and one more type of tasks, `lines`.
//!
//!     cargo build --release --example lines
//!     target/release/examples/lines run examples/task/lines.erl
//!
//! `heddle_task:start(lines, #{path => Path, to => Pid})` reads a file, FIFO or device as it becomes ready, and sends `{line, Task,
//! Binary}` for each line, without its end. What follows the last line end comes at the end of the file, when the task ends too,
//! with reason `normal`. With `every => Ms` it also sends `{lines, Task, Count}` each time `Ms` milliseconds have passed.
//!
//! How it is made: the state is a Rust value (`Lines`), made by `start` in the process that starts the task. Each call-back of the
//! trait `Task` gets a `Context`, by which it sends, sets its timer and watches descriptors, and says what must be done next.

use heddle_runtime::level::Level;
use heddle_runtime::task::{self, Builder, Context, Definition, Interest, Owned, Pid, Start, Task, TaskEvent, TaskNext, Value};
use heddle_term::Atom;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

/// A bit more urgent than processes: what it reads is work for them.
static LINES: Definition = Definition { level: LEVEL, ..Definition::new("lines", start) };
const LEVEL: Level = match Level::new(18) {
    Some(level) => level,
    None => unreachable!(),
};

fn main() {
    assert!(task::register(&LINES), "no other type has this name");
    heddle::main()
}

struct Lines {
    file: File,
    to: Pid,
    every: Option<Duration>,
    /// The beginning of a line whose end was not read yet.
    rest: Vec<u8>,
    count: u64,
}

/// What it returns with `Err` is what the starter gets as `{error, Reason}`.
fn start(start: &Start<'_>) -> Result<Box<dyn Task>, Owned> {
    let wrong = |key: &str| Owned::build(|b| b.tuple(&[b.name("bad_argument"), b.name(key)]));
    let get = |key: &str| start.args.get(Atom::new(key));
    let path = get("path").and_then(Value::as_text).ok_or_else(|| wrong("path"))?;
    let to = get("to").and_then(Value::as_pid).ok_or_else(|| wrong("to"))?;
    let every = match get("every") {
        None => None,
        Some(ms) => Some(Duration::from_millis(ms.as_integer().and_then(|ms| u64::try_from(ms).ok()).ok_or_else(|| wrong("every"))?)),
    };
    // A call-back never blocks: neither does opening a FIFO that no process writes to.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&path).map_err(|error| {
        let text = error.to_string();
        Owned::build(|b| b.tuple(&[b.name("open"), b.binary(text.as_bytes())]))
    })?;
    Ok(Box::new(Lines { file, to, every, rest: Vec::new(), count: 0 }))
}

impl Lines {
    fn send_line(&mut self, line: &[u8], context: &mut Context<'_>) {
        self.count += 1;
        let me = context.me();
        context.work(1 + line.len() / 100);
        context.tell(self.to, |b| b.tuple(&[b.name("line"), b.pid(me), b.binary(line)]));
    }

    /// Reads once: what is there, up to a buffer full. More makes the descriptor ready again at once.
    fn read(&mut self, context: &mut Context<'_>) -> TaskNext {
        let mut buffer = [0; 64 << 10];
        match self.file.read(&mut buffer) {
            Ok(0) => {
                let last = std::mem::take(&mut self.rest);
                if !last.is_empty() {
                    self.send_line(&last, context);
                }
                return TaskNext::done();
            }
            Ok(n) => {
                self.rest.extend_from_slice(&buffer[..n]);
                let bytes = std::mem::take(&mut self.rest);
                let mut lines = bytes.split(|&byte| byte == b'\n');
                self.rest = lines.next_back().unwrap_or_default().to_vec();
                lines.for_each(|line| self.send_line(line, context));
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => {
                let text = error.to_string();
                return TaskNext::Exit(Owned::build(|b| b.tuple(&[b.name("read"), b.binary(text.as_bytes())])));
            }
        }
        self.watch(context)
    }

    fn watch(&mut self, context: &mut Context<'_>) -> TaskNext {
        match context.watch(self.file.as_raw_fd(), Interest::Read) {
            Ok(()) => TaskNext::Wait,
            Err(error) => {
                let text = error.to_string();
                TaskNext::Exit(Owned::build(|b| b.tuple(&[b.name("watch"), b.binary(text.as_bytes())])))
            }
        }
    }
}

impl Task for Lines {
    fn setup(&mut self, context: &mut Context<'_>) -> TaskNext {
        // Without a receiver no lines are read.
        context.link(self.to);
        if let Some(every) = self.every {
            context.set_timer(every);
        }
        self.watch(context)
    }

    fn handle_event(&mut self, event: TaskEvent<'_>, context: &mut Context<'_>) -> TaskNext {
        match event {
            TaskEvent::Ready(_, _) => self.read(context),
            // `{count, Pid}` is answered, all else is nothing to it.
            TaskEvent::Message(message) => {
                if let Some([what, from]) = message.as_tuple()
                    && what.is("count")
                    && let Some(from) = from.as_pid()
                {
                    let (me, count) = (context.me(), self.count as i64);
                    context.tell(from, |b| b.tuple(&[b.name("count"), b.pid(me), b.integer(count)]));
                }
                TaskNext::Wait
            }
        }
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) -> TaskNext {
        let (me, count) = (context.me(), self.count as i64);
        context.tell(self.to, |b| b.tuple(&[b.name("lines"), b.pid(me), b.integer(count)]));
        if let Some(every) = self.every {
            context.set_timer(every);
        }
        TaskNext::Wait
    }

    fn handle_info<'b>(&self, b: &'b Builder) -> Value<'b> {
        b.fields(&[("lines", b.integer(self.count as i64)), ("unfinished", b.integer(self.rest.len() as i64))])
    }

    fn terminate(&mut self, reason: Value<'_>, context: &mut Context<'_>) {
        // A process that ends it by an exit signal hears how far it came. The file is closed when the state is dropped.
        if !reason.is("normal") {
            let (me, count) = (context.me(), self.count as i64);
            context.tell(self.to, |b| b.tuple(&[b.name("stopped"), b.pid(me), b.integer(count)]));
        }
    }
}
