//! Atoms that are there before any module is, and the names by which the VM's own code calls some of them.
//!
//! Numbers show: the keys of a small map stand in the order of the numbers of their atoms, and programs print maps. So the atoms
//! that stock has before it loads its first module are here in the order that stock gives them (`predefined_atoms.txt`, one a
//! line; read off the list of atoms in a crash dump of OTP 27). `am_order` in tests/erl compares.

use crate::atom::Atom;

const PREDEFINED: &str = include_str!("predefined_atoms.txt");

/// All of them, by number.
pub fn names() -> impl Iterator<Item = &'static str> {
    PREDEFINED.lines()
}

/// Line of a name in the list.
const fn number(name: &str) -> u32 {
    let (list, name) = (PREDEFINED.as_bytes(), name.as_bytes());
    let (mut at, mut line) = (0, 0);
    while at < list.len() {
        let mut same = 0;
        while same < name.len() && list[at + same] == name[same] {
            same += 1;
        }
        if same == name.len() && list[at + same] == b'\n' {
            return line;
        }
        while list[at] != b'\n' {
            at += 1;
        }
        at += 1;
        line += 1;
    }
    panic!("not among the predefined atoms")
}

macro_rules! atoms {
    ($($name:ident = $text:literal),* $(,)?) => {
        $(pub const $name: Atom = Atom::from_index(const { number($text) });)*
    };
}

atoms! {
    FALSE = "false",
    TRUE = "true",
    NONODE_NOHOST = "nonode@nohost",
    EMPTY = "",
    INFINITY = "infinity",
    NORMAL = "normal",
    THROW = "throw",
    ERROR = "error",
    EXIT = "exit",
    UNDEFINED = "undefined",
    CLOCK_SERVICE = "clock_service",
    NOCATCH = "nocatch",
    UNDEFINED_FUNCTION = "undefined_function",
    UNDEFINED_LAMBDA = "undefined_lambda",
    ERTS_CODE_PURGER = "erts_code_purger",
    PENDING_PURGE_LAMBDA = "pending_purge_lambda",
    NIL = "nil",
    DOWN_UPPER = "DOWN",
    EXIT_UPPER = "EXIT",
    APPLY = "apply",
    BADARG = "badarg",
    BADARITH = "badarith",
    BADARITY = "badarity",
    BADFUN = "badfun",
    BADKEY = "badkey",
    BADMAP = "badmap",
    BADMATCH = "badmatch",
    BADRECORD = "badrecord",
    BADSIG = "badsig",
    CASE_CLAUSE = "case_clause",
    CAUSE = "cause",
    DIST_SPAWN_INIT = "dist_spawn_init",
    EMULATOR = "emulator",
    ERL_ERTS_ERRORS = "erl_erts_errors",
    ERL_INIT = "erl_init",
    ERL_KERNEL_ERRORS = "erl_kernel_errors",
    ERL_STDLIB_ERRORS = "erl_stdlib_errors",
    ERLANG = "erlang",
    ERROR_HANDLER = "error_handler",
    ERROR_INFO = "error_info",
    ERROR_LOGGER = "error_logger",
    ERTS_INTERNAL = "erts_internal",
    ETS = "ets",
    FUNCTION_CLAUSE = "function_clause",
    IF_CLAUSE = "if_clause",
    INCLUDE_SHARED_BINARIES = "include_shared_binaries",
    INIT = "init",
    KILL = "kill",
    KILLED = "killed",
    LINE = "line",
    LOGGER = "logger",
    MEMORY = "memory",
    MODULE = "module",
    BREAKPOINT = "breakpoint",
    MONITOR = "monitor",
    PROCESS = "process",
    PORT = "port",
    TIME_OFFSET = "time_offset",
    SPAWN_REPLY = "spawn_reply",
    NOCONNECTION = "noconnection",
    NOPROC = "noproc",
    NOT_OWNER = "not_owner",
    NOTSUP = "notsup",
    OK = "ok",
    PID = "pid",
    SEND = "send",
    SIZE = "size",
    SYSTEM_LIMIT = "system_limit",
    TAG = "tag",
    SECOND = "second",
    SECONDS = "seconds",
    MILLISECOND = "millisecond",
    MILLI_SECONDS = "milli_seconds",
    MICROSECOND = "microsecond",
    MICRO_SECONDS = "micro_seconds",
    NANOSECOND = "nanosecond",
    NANO_SECONDS = "nano_seconds",
    NATIVE = "native",
    PERF_COUNTER = "perf_counter",
    POSITIVE = "positive",
    MONOTONIC = "monotonic",
    TIMEOUT_VALUE = "timeout_value",
    TRY_CLAUSE = "try_clause",
    UNDEF = "undef",
    YIELD = "yield",
    LINK = "link",
    TIME = "time",
    RAISE = "raise",
    BANG = "!",
    LISTS = "lists",
    HIBERNATE = "hibernate",
    LOAD_NIF = "load_nif",
    CALL_ON_LOAD_FUNCTION = "call_on_load_function",
    NIF_ERROR = "nif_error",
    FILE = "file",
    MAPS = "maps",
    ITERATOR = "iterator",
    NONE = "none",
    NOMATCH = "nomatch",
    NO_INTEGER = "no_integer",
    SHORT = "short",
    COMPACT = "compact",
    DECIMALS = "decimals",
    SCIENTIFIC = "scientific",
    MESSAGE_QUEUE_LEN = "message_queue_len",
}
