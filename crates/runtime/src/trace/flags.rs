//! Trace flags of a process, as bits.

pub const SEND: u32 = 1 << 0;
pub const RECEIVE: u32 = 1 << 1;
pub(crate) const CALL: u32 = 1 << 2;
pub const PROCS: u32 = 1 << 3;
pub(crate) const RUNNING: u32 = 1 << 4;
pub(crate) const RUNNING_PROCS: u32 = 1 << 5;
pub(crate) const EXITING: u32 = 1 << 6;
pub(crate) const COLLECTIONS: u32 = 1 << 7;
pub(crate) const RETURN_TO: u32 = 1 << 8;
pub(crate) const ARITY: u32 = 1 << 9;
pub const SILENT: u32 = 1 << 10;
pub const TIMESTAMP: u32 = 1 << 11;
pub(crate) const MONOTONIC: u32 = 1 << 12;
pub(crate) const STRICT_MONOTONIC: u32 = 1 << 13;
pub(crate) const ON_SPAWN: u32 = 1 << 14;
pub(crate) const ON_FIRST_SPAWN: u32 = 1 << 15;
pub(crate) const ON_LINK: u32 = 1 << 16;
pub(crate) const ON_FIRST_LINK: u32 = 1 << 17;
pub const PORTS: u32 = 1 << 18;
pub const RUNNING_PORTS: u32 = 1 << 19;
pub(crate) const SCHEDULER_ID: u32 = 1 << 20;
/// Internal: the process has a token of sequential tracing (see `seq`).
pub const TOKEN: u32 = 1 << 31;
/// Internal: the process is sensitive, nothing of it may be reported.
pub(crate) const SENSITIVE: u32 = 1 << 30;
/// Internal: its message queue is long (see `system_monitor`).
pub const LONG_QUEUE: u32 = 1 << 29;
/// Internal: it is in a metered function (see `meters`).
pub const METERED: u32 = 1 << 28;
/// Internal: some timer was set to send to it (`timer_refs`).
pub const TIMED: u32 = 1 << 27;
pub(crate) const OWN: u32 = TOKEN | SENSITIVE | LONG_QUEUE | METERED | TIMED;
pub const ALL: u32 = (1 << 21) - 1;

/// Flags that both ports and processes have.
pub const MODIFIERS: u32 = SILENT | TIMESTAMPS | SCHEDULER_ID | RECEIVE | SEND;
pub const OF_PORTS: u32 = MODIFIERS | PORTS | RUNNING_PORTS;
pub const OF_PROCESSES: u32 = (ALL & !OF_PORTS) | MODIFIERS;

pub(crate) const TIMESTAMPS: u32 = TIMESTAMP | MONOTONIC | STRICT_MONOTONIC;

/// In the order in which stock lists them.
pub const NAMES: &[(&str, u32)] = &[
    ("running_procs", RUNNING_PROCS),
    ("running_ports", RUNNING_PORTS),
    ("ports", PORTS),
    ("scheduler_id", SCHEDULER_ID),
    ("silent", SILENT),
    ("return_to", RETURN_TO),
    ("arity", ARITY),
    ("garbage_collection", COLLECTIONS),
    ("exiting", EXITING),
    ("running", RUNNING),
    ("set_on_first_link", ON_FIRST_LINK),
    ("set_on_link", ON_LINK),
    ("set_on_first_spawn", ON_FIRST_SPAWN),
    ("procs", PROCS),
    ("call", CALL),
    ("set_on_spawn", ON_SPAWN),
    ("receive", RECEIVE),
    ("send", SEND),
    ("monotonic_timestamp", MONOTONIC),
    ("strict_monotonic_timestamp", STRICT_MONOTONIC),
    ("timestamp", TIMESTAMP),
];

pub fn named(name: &str) -> Option<u32> {
    if name == "all" {
        return Some(ALL);
    }
    NAMES.iter().find(|(n, _)| *n == name).map(|(_, bit)| *bit)
}
