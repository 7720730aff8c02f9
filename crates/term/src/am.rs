//! Atoms that the machine itself names. One list: the constant and the text; the number is the position.

use crate::atom::Atom;

macro_rules! atoms {
    ($($name:ident = $text:literal),* $(,)?) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Position { $($name),* }
        $(pub const $name: Atom = Atom::from_index(Position::$name as u32);)*
        pub(crate) const NAMES: &[&str] = &[$($text),*];
    };
}

// One atom a line, sorted into groups; append freely.
atoms! {
    EMPTY = "",
    FALSE = "false",
    TRUE = "true",
    OK = "ok",
    ERROR = "error",
    EXIT = "exit",
    THROW = "throw",
    UNDEFINED = "undefined",
    NORMAL = "normal",
    KILL = "kill",
    KILLED = "killed",
    NOPROC = "noproc",
    NOCONNECTION = "noconnection",
    INFINITY = "infinity",
    NIL = "nil",
    EXIT_UPPER = "EXIT",
    DOWN_UPPER = "DOWN",
    NOCATCH = "nocatch",
    // error reasons
    BADARG = "badarg",
    BADARITH = "badarith",
    BADMATCH = "badmatch",
    CASE_CLAUSE = "case_clause",
    FUNCTION_CLAUSE = "function_clause",
    IF_CLAUSE = "if_clause",
    TRY_CLAUSE = "try_clause",
    BADFUN = "badfun",
    BADARITY = "badarity",
    UNDEF = "undef",
    BADMAP = "badmap",
    BADKEY = "badkey",
    BADRECORD = "badrecord",
    SYSTEM_LIMIT = "system_limit",
    TIMEOUT_VALUE = "timeout_value",
    NOTSUP = "notsup",
    NOT_OWNER = "not_owner",
    BADSIG = "badsig",
    // error_info
    ERROR_INFO = "error_info",
    MODULE = "module",
    CAUSE = "cause",
    ERL_ERTS_ERRORS = "erl_erts_errors",
    ERL_STDLIB_ERRORS = "erl_stdlib_errors",
    ERL_KERNEL_ERRORS = "erl_kernel_errors",
    FILE = "file",
    LINE = "line",
    NONODE_NOHOST = "nonode@nohost",
    // modules
    ERLANG = "erlang",
    LISTS = "lists",
    MAPS = "maps",
    ETS = "ets",
    INIT = "init",
    ERL_INIT = "erl_init",
    ERTS_INTERNAL = "erts_internal",
    ERROR_HANDLER = "error_handler",
    UNDEFINED_FUNCTION = "undefined_function",
    UNDEFINED_LAMBDA = "undefined_lambda",
    ERTS_CODE_PURGER = "erts_code_purger",
    LOGGER = "logger",
    // functions that the loader treats specially
    APPLY = "apply",
    NIF_ERROR = "nif_error",
    RAISE = "raise",
    YIELD = "yield",
    HIBERNATE = "hibernate",
    LOAD_NIF = "load_nif",
    CALL_ON_LOAD_FUNCTION = "call_on_load_function",
    BANG = "!",
    SEND = "send",
    LINK = "link",
    MONITOR = "monitor",
}
