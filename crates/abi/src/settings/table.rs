//! The flags: one row each.

use super::Check::{Any, Bool, IsTrue, Mebibytes, Milliseconds, NamedOrWithin, OneOf, Seconds, Seed, Within};
use super::{
    Break, Choice, CoverageMode, Direct, FOREVER_MS, MemoryArchitecture, Number, PerfFiles, Switch, Untranslatable, WarningMap, Warp,
};
use crate::flags::Takes::{Attached, Boolean, Nothing, Value, Word};
use crate::flags::{Effect, Flag};

/// Rows of the form
///
/// ```text
/// "flag" WhatFollows "VALUE" "help text" {
///     /// What it means.
///     field: Kind = default,
///     check
/// };
/// ```
///
/// Without a field a flag is `ignored`, or honoured `by_cli` in code. A field without a check is set by such code.
macro_rules! flags {
    ($($name:literal $takes:ident $value:literal $meaning:literal $($special:ident)? $({
        $(#[$about:meta])* $field:ident: $kind:ty = $default:expr $(, $check:expr)?
    })?;)*) => {
        /// All settings that flags can change.
        #[repr(align(64))]
        pub struct Settings {
            $($($(#[$about])* pub $field: $kind,)?)*
        }

        pub static SETTINGS: Settings = Settings {
            $($($field: <$kind>::new($default),)?)*
        };

        pub static FLAGS: &[Flag] = &[
            $(Flag {
                name: $name,
                takes: $takes,
                value: $value,
                meaning: $meaning,
                effect: flags!(@effect $($special)? $($($field, $check)?)?),
            },)*
        ];
    };
    (@effect by_cli) => { Effect::ByCli };
    (@effect ignored) => { Effect::None };
    (@effect $field:ident, $check:expr) => { Effect::Sets(&SETTINGS.$field, $check) };
}

/// Reductions of a slice in stock, which the levels of `+swt` are multiples of.
const SLICE: usize = 4000;
/// As in stock: the defaults for new processes.
pub const DEFAULT_MIN_HEAP_WORDS: usize = 233;
pub const DEFAULT_MIN_VHEAP_WORDS: usize = 46_422;

/// Calls after which a function is compiled (own measurement: of 1,190 functions that `erlc lists.erl` calls a thousand times, 330 are
/// called 10,000 times and 100 30,000 times). Compiling all of these would take a third of its time, so the thread that compiles has a limit.
const JIT_CALLS: usize = 10_000;

/// Groups of instructions that `+JMchaos` leaves to the interpreter.
pub const CHAOS_GROUPS: usize = 1 << 16;

/// From ERTS.
pub const MIN_ETS_LIMIT: usize = 8192;

flags! {
    "S" Value "N[:M]" "schedulers (default: processors), and how many of them are online (default: no more than processors)" by_cli;
    "SP" Value "P[:Q]" "the same in percent of the processors" by_cli;
    "SDcpu" Value "N[:M]" "threads for long computations in natives" by_cli;
    "SDPcpu" Value "P[:Q]" "the same in percent of the schedulers" by_cli;
    "SDio" Value "N" "threads for files and other blocking calls (default 10)" by_cli;
    "P" Value "N" "how many processes there may be at a time" {
        /// Maximum number of processes.
        process_limit: Number = 1 << 20,
        Within(1024, 134_217_727, "+P {}: between 1024 and 134217727 processes")
    };
    "Q" Value "N" "how many ports there may be at a time" {
        /// Maximum number of ports. The default is that of stock.
        port_limit: Number = 1 << 16,
        Within(1024, 134_217_727, "+Q {}: between 1024 and 134217727 ports")
    };
    "t" Value "N" "how many atoms there may be" {
        /// Maximum number of atoms.
        atom_limit: Number = 1 << 20,
        Within(8192, 2_147_483_647, "+t {}: between 8192 and 2147483647 atoms")
    };
    "jit" Value "off|eager|N"
        "which functions become machine code: none, all when their module is loaded, or those that were called N times (default 10000)" {
        /// Which functions become machine code: 0 none, 1 all, N those that were called N times.
        jit: Number = JIT_CALLS,
        NamedOrWithin(&[("off", 0), ("false", 0), ("eager", 1)], 2, 1_000_000_000, "+jit {}: off, eager, or a number of calls from 2 to 1000000000")
    };
    "hmem" Value "private|shared|hybrid"
        "where terms lie: in a heap for each process, in one for all, or messages in an area for all (default private)" {
        /// Where terms lie. What the system had room for is told by `heddle_term::young` and `heddle_term::area`.
        memory: Choice<MemoryArchitecture> = MemoryArchitecture::Private,
        OneOf(
            &[
                ("private", MemoryArchitecture::Private as usize),
                ("hybrid", MemoryArchitecture::Hybrid as usize),
                ("shared", MemoryArchitecture::Shared as usize),
            ],
            "+hmem {}: private, shared or hybrid"
        )
    };
    "hmarea" Value "MIB" "with +hmem hybrid: room for messages that are not copied; further ones are (default 15360)" {
        /// With the hybrid heap: size of the message area, in MiB.
        message_area_mib: Number = 15_360,
        Within(64, 15_360, "+hmarea {}: between 64 and 15360 MiB")
    };
    "hdirect" Value "never|large|always"
        "with +hmem hybrid: which messages are built where they will be sent from, instead of copied (default large)" {
        /// Which messages are built in open regions.
        direct: Choice<Direct> = Direct::Large,
        OneOf(
            &[("never", Direct::Never as usize), ("large", Direct::Large as usize), ("always", Direct::Always as usize)],
            "+hdirect {}: never, large or always"
        )
    };
    "hgct" Value "N" "with +hmem shared: how many threads may collect at a time (default 0: as many as there are processors)" {
        /// Shared heap: maximum number of threads that copy at a time; 0: as many as there are processors.
        collecting_threads_max: Number = 0,
        Any
    };
    "hgcp" Value "PERCENT"
        "with +hmem shared: the part of the time that garbage_collect may take, as it collects all (default 25; 100: any)" {
        /// Shared heap: share of the time that requested collections may take, in percent; with 100 no request is refused.
        requested_collections_percent: Number = 25,
        Within(1, 100, "+hgcp {}: between 1 and 100 percent")
    };
    "hpause" Value "MICROSECONDS" "with +hmem shared: how long a minor collection should take at most (default 1000)" {
        /// Shared heap: how long a minor collection should take at most, in microseconds.
        pause_us: Number = 1000,
        Within(1, usize::MAX, "+hpause {}: at least one microsecond")
    };
    "hwatch" Value "SECONDS|off"
        "after how long a scheduler that does not come back from a native or a slice is named on standard error (default 10)" {
        /// After how long a scheduler that does not come back is named on standard error, in nanoseconds; 0: never. Nothing that holds a
        /// scheduler as long as the default is meant to.
        watch_ns: Number = 10_000_000_000,
        Seconds("+hwatch {}: seconds, from 0.1 to 86400, or off")
    };
    "hdatom" Value "N" "how many new atoms a connection to another node may make; then it is closed (default 400000)" {
        /// New atoms that one connection may make. The atom table has a million by default, so one peer alone cannot fill it.
        peer_atoms: Number = 400_000,
        Any
    };
    "hdfun" Value "N" "how many functions that are not loaded a connection to another node may name; then it is closed (default 100000)" {
        /// Entries of the code tables that one connection may make.
        peer_functions: Number = 100_000,
        Any
    };
    "hdfrag" Value "MIB"
        "how much incomplete messages of a connection to another node may take; then it is closed (default 4096)" {
        /// Room of a connection for messages of which fragments are missing, in MiB.
        fragments_mib: Number = 4096,
        Within(1, 1 << 30, "+hdfrag {}: at least one MiB")
    };
    "hdout" Value "MIB"
        "how many answers may wait for a node that does not read; then the connection is closed (default 1024)" {
        /// Room of a connection for small messages that leave too slowly, in MiB.
        answers_mib: Number = 1024,
        Within(1, 1 << 30, "+hdout {}: at least one MiB")
    };
    "hms" Value "WORDS" "smallest heap of a process" {
        /// New processes: smallest heap, in words. `cli` rounds it up to a step of `runtime::sizes`.
        min_heap_words: Number = DEFAULT_MIN_HEAP_WORDS,
        Any
    };
    "hmax" Value "WORDS" "largest heap of a process; 0: no limit" {
        /// New processes: largest heap, in words; 0: no limit.
        max_heap_words: Number = 0,
        Any
    };
    "pc" Value "latin1|unicode" "which characters io functions print as they are" {
        /// Characters above Latin-1 are shown as they are.
        printable_unicode: Switch = false,
        OneOf(&[("latin1", 0), ("unicode", 1)], "bad range of printable characters: {}")
    };
    "JPcover" Value "MODE" "native coverage of what is loaded: [function|line][_counters], true (line_counters) or false" {
        /// What is counted in modules that will be loaded.
        coverage: Choice<CoverageMode> = CoverageMode::None,
        OneOf(
            &[
                ("true", CoverageMode::LineCounters as usize),
                ("false", CoverageMode::None as usize),
                ("function", CoverageMode::Function as usize),
                ("function_counters", CoverageMode::FunctionCounters as usize),
                ("line", CoverageMode::Line as usize),
                ("line_counters", CoverageMode::LineCounters as usize),
            ],
            "bad +JPcover flag {}: true, false, function, function_counters, line or line_counters"
        )
    };
    "i" Value "MODULE" "module that boots the VM (default init)" by_cli;
    "B" Attached "[c|d|i]" "Ctrl-C: goes to the shell, ends the VM, is ignored (default: break menu)" {
        /// What Ctrl-C does.
        on_break: Choice<Break> = Break::Menu,
        OneOf(
            &[("c", Break::Shell as usize), ("d", Break::Default as usize), ("", Break::Default as usize), ("i", Break::Ignore as usize)],
            "+B{}: +B, +Bc, +Bd or +Bi"
        )
    };
    "W" Word "{i|w|e}" "what warnings are logged as" {
        /// What warnings are logged as.
        warning_map: Choice<WarningMap> = WarningMap::Warning,
        OneOf(
            &[
                ("i", WarningMap::Info as usize),
                ("w", WarningMap::Warning as usize),
                ("e", WarningMap::Error as usize),
            ],
            "+W{}: +Wi, +Ww or +We"
        )
    };
    "fnu" Attached "[w|i|e]" "file names are UTF-8; how names that are not are treated" by_cli {
        /// What is done with file names that are not UTF-8. `cli` sets it: `+fna` does so too.
        untranslatable_names: Choice<Untranslatable> = Untranslatable::Warning
    };
    "fna" Attached "[w|i|e]" "file names: encoding from the locale" by_cli;
    "fnl" Nothing "" "file names are Latin-1" by_cli {
        /// File names are UTF-8, else Latin-1. Set by `cli`, since `+fna` depends on the locale.
        utf8_names: Switch = true
    };
    "V" Nothing "" "print the version" by_cli;
    "zhft" Value "MS|infinity"
        "how long a VM that halts may take to write what ports were sent; then it ends with status 255 (default infinity)" {
        /// How long a VM that halts may take to write the data of ports, in ms.
        halt_flush_max_ms: Number = FOREVER_MS,
        Milliseconds("Invalid halt flush timeout {}")
    };
    "e" Value "N" "what is told as the limit of ETS tables (default 8192, and at least that); there is none" {
        /// What `system_info(ets_limit)` tells. There is no limit.
        ets_limit: Number = MIN_ETS_LIMIT,
        Within(0, usize::MAX >> 5, "bad maximum number of ets tables {}")
    };
    "A" Value "N" "what is told as the number of asynchronous threads (default 1); there are +SDio threads" {
        /// What `system_info(thread_pool_size)` tells.
        async_threads: Number = 1,
        Within(0, 1024, "bad number of async threads {}")
    };
    "a" Value "KWORDS" "their stack" ignored;
    "c" Boolean "BOOL" "time correction (default true)" {
        /// Time correction. Set before the clock starts.
        time_correction: Switch = true,
        IsTrue
    };
    "C" Value "no_time_warp|single_time_warp|multi_time_warp" "when the time offset may change (default multi_time_warp)" {
        /// When the time offset may change. Set before the clock starts. The default is that of stock since OTP 26.
        time_warp: Choice<Warp> = Warp::Multi,
        OneOf(
            &[
                ("no_time_warp", Warp::No as usize),
                ("single_time_warp", Warp::Single as usize),
                ("multi_time_warp", Warp::Multi as usize),
            ],
            "Invalid time warp mode: {}"
        )
    };
    "d" Nothing "" "no crash dump for internal errors" ignored;
    "dcg" Value "N" "groups of decentralised counters" ignored;
    "hmbs" Value "WORDS" "smallest binary heap" {
        /// New processes: smallest virtual heap of binaries, in words; rounded up likewise.
        min_vheap_words: Number = DEFAULT_MIN_VHEAP_WORDS,
        Any
    };
    "hmaxk" Value "BOOL" "kill a process at its largest heap" {
        /// New processes: one that reaches the largest heap is killed.
        max_heap_kill: Switch = true,
        Bool("bad max heap kill {}")
    };
    "hmaxel" Value "BOOL" "log a process at its largest heap" {
        /// New processes: one that reaches the largest heap is logged.
        max_heap_log: Switch = true,
        Bool("bad max heap error logger {}")
    };
    "hmaxib" Value "BOOL" "count binaries in the largest heap" {
        /// New processes: shared binaries count for the largest heap.
        max_heap_binaries: Switch = false,
        Bool("bad max heap include bins {}")
    };
    "hpds" Value "N" "first size of process dictionaries" ignored;
    "hmqd" Value "on_heap|off_heap" "where message queues live" {
        /// New processes: messages wait outside the heap.
        off_heap_messages: Switch = false,
        OneOf(&[("on_heap", 0), ("off_heap", 1)], "Invalid message_queue_data flag: {}")
    };
    "IOt" Value "N" "poll threads" ignored;
    "IOp" Value "N" "poll sets" ignored;
    "IOPt" Value "P" "poll threads, percent" ignored;
    "IOPp" Value "P" "poll sets, percent" ignored;
    "IOs" Value "BOOL" "scheduler poll sets" ignored;
    "JDdump" Value "BOOL" "for each module that is loaded a file MODULE.asm, with the machine code that the second tier makes of its functions (default false)" {
        /// Machine code of the modules that are loaded is written.
        dump_code: Switch = false,
        Bool("bad +JDdump flag {}")
    };
    "JPperf" Value "MODE" "compiled functions for perf: map (names, in /tmp/perf-PID.map), dump (code and lines, in /tmp/jit-PID.dump), true (both) or false" {
        /// What is written of compiled functions.
        perf: Choice<PerfFiles> = PerfFiles::None,
        OneOf(
            &[
                ("true", PerfFiles::Both as usize),
                ("map", PerfFiles::Map as usize),
                ("dump", PerfFiles::Dump as usize),
                ("fp", PerfFiles::None as usize),
                ("no_fp", PerfFiles::None as usize),
                ("false", PerfFiles::None as usize),
            ],
            "bad +JPperf support flag {}"
        )
    };
    "JMfile" Value "FILE|none" "the file with machine code that was made before (default: what heddle precompile wrote beside the program)" by_cli;
    "JMlimit" Value "MIB" "how much machine code there may be at a time, in MiB (1024K is 1 MiB); then code that is not entered leaves (default 256)" {
        /// Maximum of machine code.
        code_limit_bytes: Number = 256 << 20,
        Mebibytes(1 << 20, "+JMlimit {}: a number of MiB up to 1048576, or of KiB with a K after it")
    };
    "JMchaos" Value "SEED[:FUEL]" "a test of +jit: random instructions are left to the interpreter; of their 65536 groups only the first FUEL, whose last one is told" {
        /// The seed in the upper half, and the groups in the lower half. 0: none.
        chaos: Number = 0,
        Seed(CHAOS_GROUPS, "+JMchaos {}: a seed from 1 to 4294967295, and after a colon a number up to 65536")
    };
    "JMsingle" Value "BOOL" "accepted: no memory of code is writable and executable at a time (default false)" {
        /// What stock's flag says. Nothing depends on it.
        single_mapping: Switch = false,
        Bool("bad +JMsingle flag {}")
    };
    "K" Value "BOOL" "kernel poll (always on)" ignored;
    "L" Nothing "" "no line numbers in stack traces" ignored;
    "M" Attached "..." "memory allocators" ignored;
    "n" Attached "{s|a|d}" "signals to ports" ignored;
    "pad" Value "BOOL" "new processes do not wait when they send more to another node than it takes (default false)" {
        /// New processes do not wait for busy connections to other nodes.
        async_dist: Switch = false,
        Bool("bad async dist value {}")
    };
    "R" Value "N" "compatibility release" ignored;
    "r" Nothing "" "always move" ignored;
    "rg" Value "N" "reader groups" ignored;
    "sal" Value "BOOL" "a scheduler that is alone at work uses no atomic instructions (default true)" {
        /// A scheduler that is alone at work uses no atomic instructions.
        may_be_alone: Switch = true,
        Bool("bad value '{}' for being alone")
    };
    "sbt" Value "u|ns|ts|ps|s|nnts|nnps|tnnps|db" "binding of schedulers to processors (default u: none)" by_cli;
    "sbwt" Value "none|very_short|short|medium|long|very_long" "how long schedulers look for work before they sleep" {
        /// Rounds in which a scheduler looks for work before it parks. At least one: a thief looks at all queues once. (The default takes
        /// about 100 µs; guessed.)
        spin_rounds: Number = 60,
        OneOf(
            &[("none", 1), ("very_short", 5), ("short", 20), ("medium", 60), ("long", 300), ("very_long", 1200)],
            "bad scheduler busy wait threshold: {}"
        )
    };
    "sbwtdcpu" Value "HOW" "busy wait of SDcpu threads" ignored;
    "sbwtdio" Value "HOW" "busy wait of SDio threads" ignored;
    "scl" Value "BOOL" "keep the load on few schedulers, the others sleep (default true)" {
        /// Load compaction. `cli` turns it off when balancing by utilisation is on: the two exclude each other.
        compaction: Switch = true,
        Bool("bad scheduler compact load value '{}'")
    };
    "sct" Value "TOPOLOGY" "processor topology, such as L0-3t0-1,0-1c0,0,1,1p0" by_cli;
    "ssrct" Nothing "" "do not look at the processor topology" by_cli;
    "secio" Value "BOOL" "eager look for input" ignored;
    "sfwi" Value "MS" "forced wake-up interval" ignored;
    "spp" Value "BOOL" "port parallelism" ignored;
    "sss" Value "KWORDS" "stack of scheduler threads" ignored;
    "sssdcpu" Value "KWORDS" "stack of SDcpu threads" ignored;
    "sssdio" Value "KWORDS" "stack of SDio threads" ignored;
    "stbt" Value "TYPE" "as +sbt" by_cli;
    "sub" Value "BOOL" "instead of +scl: all schedulers work the same part of the time (default false)" {
        /// Balancing by utilisation: all schedulers work the same share of the time.
        by_utilisation: Switch = false,
        Bool("bad scheduler utilization balancing  value '{}'")
    };
    "swc" Value "BOOL" "a process that the running process just woke is next, if no scheduler is idle (default true)" {
        /// A process that the running process just woke is next, if no scheduler is idle.
        worker_cache: Switch = true,
        Bool("bad scheduler worker cache value '{}'")
    };
    "swct" Value "HOW" "wake-up clean-up" ignored;
    "sws" Value "HOW" "wake-up strategy" ignored;
    "swt" Value "very_low|low|medium|high|very_high" "how much work has to wait before one more scheduler is active" {
        /// How much work has to wait before one more scheduler is active, in reductions times processes that wait after the first one.
        wake_limit: Number = 10 * SLICE,
        OneOf(
            &[("very_low", SLICE), ("low", 4 * SLICE), ("medium", 10 * SLICE), ("high", 50 * SLICE), ("very_high", 250 * SLICE)],
            "scheduler wakeup threshold: {}"
        )
    };
    "swtdcpu" Value "HOW" "wake-up threshold of SDcpu threads" ignored;
    "swtdio" Value "HOW" "wake-up threshold of SDio threads" ignored;
    "T" Value "N" "modified timing" ignored;
    "v" Attached "" "verbose" ignored;
    "zdbbl" Value "KIB" "how much may wait to be sent to another node before processes that send to it wait as well (default 1024)" {
        /// How much may wait to be sent to another node before senders wait, in KiB.
        node_busy_kib: Number = 1024,
        Within(1, 2_097_151, "Invalid dbbl limit: {}")
    };
    "zdntgc" Value "S" "collection of node tables" ignored;
    "zebwt" Value "HOW" "busy wait in ETS" ignored;
    "zosrl" Value "N" "outstanding requests" ignored;
}
