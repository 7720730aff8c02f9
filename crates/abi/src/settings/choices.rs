//! The settings that have named values.

use super::{Choice, Named};

/// Each value with its name in flags and in Erlang.
macro_rules! choices {
    ($($(#[$about:meta])* $name:ident { $($(#[$meaning:meta])* $value:ident = $text:literal,)* })*) => { $(
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$meaning])* $value,)*
        }

        impl $name {
            pub fn named(name: &str) -> Option<$name> {
                Self::ALL.iter().copied().find(|value| value.name() == name)
            }
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$value => $text,)*
                }
            }
        }

        impl Named for $name {
            const ALL: &'static [$name] = &[$($name::$value,)*];
            #[inline(always)]
            fn of(number: u8) -> $name {
                $(if number == $name::$value as u8 {
                    return $name::$value;
                })*
                Self::ALL[0]
            }
        }

        impl From<$name> for u8 {
            #[inline(always)]
            fn from(value: $name) -> u8 {
                value as u8
            }
        }

        impl Choice<$name> {
            pub const fn new(default: $name) -> Choice<$name> {
                Choice::of_number(default as u8)
            }
        }
    )* };
}

choices! {
    /// Where terms lie (`+hmem`).
    MemoryArchitecture {
        /// Each process has a heap of its own.
        Private = "private",
        /// All processes have one heap.
        Shared = "shared",
        /// As private, but the data of messages lies in an area that processes share.
        Hybrid = "hybrid",
    }

    /// Which messages are built in open regions of the message area (`+hdirect`), instead of copied when they are sent the first time.
    Direct {
        Never = "never",
        /// Those of processes that send large ones.
        Large = "large",
        /// All that can be: for figures of what was foreseen.
        Always = "always",
    }

    /// When the difference between Erlang system time and Erlang monotonic time may change (`+C`).
    Warp {
        No = "no_time_warp",
        Single = "single_time_warp",
        Multi = "multi_time_warp",
    }

    /// What native coverage counts (`+JPcover`).
    CoverageMode {
        None = "none",
        Function = "function",
        FunctionCounters = "function_counters",
        Line = "line",
        LineCounters = "line_counters",
    }

    /// What is written of compiled functions (`+JPperf`).
    PerfFiles {
        None = "none",
        /// Names by address: `/tmp/perf-PID.map`.
        Map = "map",
        /// Names, code and lines: `/tmp/jit-PID.dump`.
        Dump = "dump",
        Both = "both",
    }

    /// What Ctrl-C does (`+B`).
    Break {
        /// The break menu.
        Menu = "menu",
        /// The key goes to the shell, which interrupts what runs.
        Shell = "shell",
        /// The signal ends the VM, as it ends any program.
        Default = "default",
        Ignore = "ignore",
    }

    /// What warnings are logged as (`+W`).
    WarningMap {
        Info = "info",
        Warning = "warning",
        Error = "error",
    }

    /// What `prim_file` does with file names that are not UTF-8 (`+fnuw`, `+fnui`, `+fnue`).
    Untranslatable {
        Warning = "warning",
        Ignore = "ignore",
        Error = "error",
    }
}

impl CoverageMode {
    pub fn is_of_lines(self) -> bool {
        matches!(self, CoverageMode::Line | CoverageMode::LineCounters)
    }
    pub fn is_of_functions(self) -> bool {
        matches!(self, CoverageMode::Function | CoverageMode::FunctionCounters)
    }
    /// True if the number of executions is counted.
    pub fn counts(self) -> bool {
        matches!(self, CoverageMode::FunctionCounters | CoverageMode::LineCounters)
    }
}
