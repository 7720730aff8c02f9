//! Starting the machine: settings, natives, preloaded modules, the first processes.

use crate::otp::Otp;
use crate::threads::{Resolved, Threads};
use heddle_abi::flags::{self, Wrong};
use heddle_engine::loader;
use heddle_engine::{Interpreter, code_natives, heddle_modules};
use heddle_memory::space;
use heddle_natives::ports::flush;
use heddle_natives::system::binding;
use heddle_natives::system::signals::{self, Break};
use heddle_runtime::coverage::{self, Mode};
use heddle_runtime::level::Priority;
use heddle_runtime::process::SpawnOptions;
use heddle_runtime::time_offset::{self, Warp};
use heddle_runtime::{alone, balance, proctab, sched, sequential, spawn, time, watch, worker_cache, zeal};
use heddle_term::area;
use heddle_term::code_cell::Mfa;
use heddle_term::open::Direct;
use heddle_term::{Atom, Heap, Term, atom};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Modules that are there before any process runs, in loading order (as ERTS's `pre_loaded`).
const PRELOADED: &[&str] = &[
    "erts_code_purger",
    "erl_init",
    "init",
    "prim_buffer",
    "prim_eval",
    "prim_inet",
    "prim_file",
    "zlib",
    "socket_registry",
    "prim_socket",
    "prim_net",
    "prim_zip",
    "erl_prim_loader",
    "erlang",
    "erts_internal",
    "erl_tracer",
    "erts_literal_area_collector",
    "erts_trace_cleaner",
    "erts_dirty_process_signal_handler",
    "atomics",
    "counters",
    "persistent_term",
];

/// `+hwatch`, unless it says otherwise: nothing that holds a scheduler for so long is meant to.
const WATCH: Duration = Duration::from_secs(10);

pub struct Config {
    /// `-smp disable`: threads take turns, and one scheduler does without read-modify-writes.
    pub sequential: bool,
    pub threads: Threads,
    pub process_limit: usize,
    /// In bytes.
    pub message_area: Option<usize>,
    pub atom_limit: usize,
    pub printable_unicode: bool,
    pub warning_map: &'static str,
    pub boot_module: String,
    pub utf8_names: bool,
    pub untranslatable_names: &'static str,
    pub on_break: Break,
    /// After how long a scheduler that does not come back is told of.
    pub watch: Option<Duration>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            sequential: false,
            threads: Threads::new(cores()),
            process_limit: proctab::DEFAULT_LIMIT,
            message_area: None,
            atom_limit: atom::DEFAULT_LIMIT,
            printable_unicode: false,
            warning_map: "warning",
            boot_module: "init".into(),
            utf8_names: true,
            untranslatable_names: "warning",
            on_break: Break::Menu,
            watch: Some(WATCH),
        }
    }
}

fn number(flag: &str, value: &str) -> Result<usize, String> {
    value.parse().map_err(|_| format!("+{flag} {value}: a number is needed"))
}

/// `problem`: what stock says.
fn boolean(value: &str, problem: &str) -> Result<bool, String> {
    value.parse().map_err(|_| problem.to_string())
}

/// One emulator flag; how many further arguments it took.
pub fn flag(config: &mut Config, flag: &[u8], next: Option<&Vec<u8>>) -> Result<usize, String> {
    let text = String::from_utf8_lossy(flag).into_owned();
    let next = next.map(|v| String::from_utf8_lossy(v).into_owned());
    let found = flags::find(&text[1..], next.as_deref()).map_err(|wrong| match wrong {
        Wrong::Unknown => format!("heddle: unknown emulator flag {text} (`heddle --help flags` lists them)"),
        Wrong::ValueMissing(f) => format!("heddle: +{} needs a value: {}, {}", f.name, f.value, f.meaning),
    })?;
    let name = found.flag.name;
    let value = found.value.as_deref().unwrap_or("");
    // What stock says word by word stands alone: programs look for it.
    honour(config, name, value).map_err(|problem| {
        if ["bad ", "setting ", "Invalid "].iter().any(|own| problem.starts_with(own)) { problem } else { format!("heddle: {problem}") }
    })?;
    Ok(usize::from(found.used_next))
}

fn honour(config: &mut Config, name: &str, value: &str) -> Result<(), String> {
    match name {
        "S" => config.threads.set(value)?,
        "SP" => config.threads.set_percent(value)?,
        "SDcpu" => config.threads.set_dirty_cpu(value)?,
        "SDPcpu" => config.threads.set_dirty_cpu_percent(value)?,
        "SDio" => config.threads.set_dirty_io(value)?,
        "P" => match number(name, value)? {
            n @ 1024..=134_217_727 => config.process_limit = n,
            _ => return Err(format!("+P {value}: between 1024 and 134217727 processes")),
        },
        "t" => match number(name, value)? {
            n @ 8192..=2_147_483_647 => config.atom_limit = n,
            _ => return Err(format!("+t {value}: between 8192 and 2147483647 atoms")),
        },
        "c" => time::set_corrected(value == "true"),
        "C" => match Warp::named(value) {
            Some(warp) => time_offset::set_mode(warp),
            None => return Err(format!("Invalid time warp mode: {value}")),
        },
        "hmem" => match value {
            "private" => {}
            "hybrid" => area::want(area::MAX_BYTES),
            "shared" => heddle_runtime::shared::want(),
            _ => return Err(format!("+hmem {value}: private, shared or hybrid")),
        },
        "hmarea" => match number(name, value)? {
            mib @ 64..=15_360 => config.message_area = Some(mib << 20),
            _ => return Err(format!("+hmarea {value}: between 64 and 15360 MiB")),
        },
        "hdirect" => match value {
            "never" => Direct::Never.set(),
            "large" => Direct::Large.set(),
            "always" => Direct::Always.set(),
            _ => return Err(format!("+hdirect {value}: never, large or always")),
        },
        "hpause" => match number(name, value)? {
            us @ 1.. => heddle_runtime::shared::nursery::PAUSE_US.store(us, Relaxed),
            0 => return Err(format!("+hpause {value}: at least one microsecond")),
        },
        "hgct" => heddle_runtime::shared::collection::MAX_THREADS.store(number(name, value)?, Relaxed),
        "hgcp" => match number(name, value)? {
            percent @ 1..=100 => heddle_runtime::shared::budget::PERCENT.store(percent as i64, Relaxed),
            _ => return Err(format!("+hgcp {value}: between 1 and 100 percent")),
        },
        "hwatch" => config.watch = watch_limit(value).ok_or_else(|| format!("+hwatch {value}: seconds, from 0.1 to 86400, or off"))?,
        "hms" => match heddle_runtime::sizes::at_least(number(name, value)?) {
            words if heddle_memory::fits(words.saturating_mul(8)) => spawn::MIN_HEAP_WORDS.store(words, Relaxed),
            _ => return Err(format!("+hms {value}: the computer has less memory than that for each process")),
        },
        "hmbs" => spawn::MIN_VHEAP_WORDS.store(heddle_runtime::sizes::at_least(number(name, value)?), Relaxed),
        "hmax" => spawn::MAX_HEAP_WORDS.store(number(name, value)?, Relaxed),
        "hmaxk" => spawn::MAX_HEAP_KILL.store(boolean(value, &format!("bad max heap kill {value}"))?, Relaxed),
        "hmaxel" => spawn::MAX_HEAP_LOG.store(boolean(value, &format!("bad max heap error logger {value}"))?, Relaxed),
        "hmaxib" => spawn::MAX_HEAP_BINARIES.store(boolean(value, &format!("bad max heap include bins {value}"))?, Relaxed),
        "hmqd" => match value {
            "on_heap" | "off_heap" => spawn::OFF_HEAP_MESSAGES.store(value == "off_heap", Relaxed),
            _ => return Err(format!("Invalid message_queue_data flag: {value}")),
        },
        "sal" => alone::MAY_BE.store(boolean(value, &format!("bad value '{value}' for being alone"))?, Relaxed),
        "swc" => worker_cache::IS_ON.store(boolean(value, &format!("bad scheduler worker cache value '{value}'"))?, Relaxed),
        "scl" => {
            let on = boolean(value, &format!("bad scheduler compact load value '{value}'"))?;
            // Not with the other strategy.
            balance::COMPACTION.store(on && !balance::by_utilisation(), Relaxed);
        }
        "sub" => {
            let on = boolean(value, &format!("bad scheduler utilization balancing  value '{value}'"))?;
            balance::BY_UTILISATION.store(on, Relaxed);
            balance::COMPACTION.fetch_and(!on, Relaxed);
        }
        "sbt" | "stbt" => binding::type_flag(value)?,
        "sct" => binding::topology_flag(value)?,
        "swt" => {
            let slices = match value {
                "very_low" => 1,
                "low" => 4,
                "medium" => 10,
                "high" => 50,
                "very_high" => 250,
                _ => return Err(format!("scheduler wakeup threshold: {value}")),
            };
            balance::WAKE_LIMIT.store(slices * 4000, Relaxed);
        }
        "sbwt" => {
            let rounds = match value {
                "none" => 1,
                "very_short" => 5,
                "short" => 20,
                "medium" => sched::USUAL_SPIN_ROUNDS,
                "long" => 300,
                "very_long" => 1200,
                _ => return Err(format!("bad scheduler busy wait threshold: {value}")),
            };
            sched::SPIN_ROUNDS.store(rounds, Relaxed);
        }
        "pc" => match value {
            "unicode" | "latin1" => config.printable_unicode = value == "unicode",
            _ => return Err(format!("bad range of printable characters: {value}")),
        },
        "JPcover" => {
            let mode = match value {
                "true" => Some(Mode::LineCounters),
                "false" => Some(Mode::None),
                name => Mode::named(name).filter(|mode| *mode != Mode::None),
            };
            coverage::set(
                mode.ok_or_else(|| format!("bad +JPcover flag {value}: true, false, function, function_counters, line or line_counters"))?,
            );
        }
        "zhft" => {
            let max_ms = match value {
                "infinity" => flush::FOREVER,
                // What stock says.
                ms => {
                    ms.parse::<i32>().ok().and_then(|ms| ms.try_into().ok()).ok_or_else(|| format!("Invalid halt flush timeout {value}"))?
                }
            };
            flush::MAX_MS.store(max_ms, Relaxed);
        }
        "i" => config.boot_module = value.into(),
        "B" => {
            config.on_break = match value {
                "c" => Break::Shell,
                "d" | "" => Break::Default,
                "i" => Break::Ignore,
                _ => return Err(format!("+B{value}: +B, +Bc, +Bd or +Bi")),
            }
        }
        "W" => {
            config.warning_map = match value {
                "i" => "info",
                "w" => "warning",
                "e" | "" => "error",
                _ => return Err(format!("+W{value}: +Wi, +Ww or +We")),
            }
        }
        "fnu" => {
            config.utf8_names = true;
            config.untranslatable_names = untranslatable(value);
        }
        "fnl" => config.utf8_names = false,
        "fna" => {
            config.utf8_names = utf8_locale();
            config.untranslatable_names = untranslatable(value);
        }
        "V" => crate::erl::print_version(),
        _ => {}
    }
    Ok(())
}

/// None: the value is no limit. Some(None): no limit is wanted.
fn watch_limit(value: &str) -> Option<Option<Duration>> {
    match value.parse::<f64>() {
        _ if value == "off" => Some(None),
        Ok(0.0) => Some(None),
        Ok(seconds @ 0.1..=86_400.0) => Some(Some(Duration::from_secs_f64(seconds))),
        _ => None,
    }
}

fn untranslatable(value: &str) -> &'static str {
    match value {
        "i" => "ignore",
        "e" => "error",
        _ => "warning",
    }
}

fn utf8_locale() -> bool {
    let value = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|n| std::env::var(n).ok().filter(|v| !v.is_empty()));
    value.is_some_and(|v| v.to_ascii_uppercase().replace('-', "").contains("UTF8"))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// Makes every native callable.
pub fn register_natives() {
    heddle_engine::init();
    heddle_natives::register();
    heddle_runtime::natives::register(code_natives::TABLE);
    heddle_runtime::natives::register(heddle_modules::TABLE);
    heddle_engine::install_natives();
    let _ = heddle_natives::process::system_tasks::USES_OLD_CODE.set(code_natives::uses_old_code);
}

/// `flags`: those of the emulator as stock would get them, which only `system_info(emu_args)` shows.
pub fn start(config: Config, otp: &Otp, flags: &[Vec<u8>], arguments: Vec<Vec<u8>>) -> ! {
    if let Ok(modes) = std::env::var("HEDDLE_ZEAL")
        && let Err(message) = zeal::set(&modes)
    {
        heddle_term::complain!("heddle: {message}\n");
        std::process::exit(1);
    }
    let mut threads = config.threads.resolve().unwrap_or_else(|problem| crate::erl::fail(&problem));
    if config.sequential {
        if config.threads.is_told && threads.schedulers > 1 {
            crate::erl::fail("heddle: -smp disable: the sequential machine has one scheduler; leave out +S");
        }
        threads = Resolved { schedulers: 1, online: 1, dirty_cpu: 1, dirty_cpu_online: 1 };
        sequential::choose();
    }
    if let Some(bytes) = space::limit_bytes().filter(|&bytes| bytes < space::MIN_BYTES) {
        crate::erl::fail(&format!(
            "heddle: {} MB of address space are too little for a node, which needs {}: allow more (ulimit -v), or ulimit -v unlimited",
            bytes >> 20,
            space::MIN_BYTES >> 20
        ));
    }
    time::init();
    atom::set_limit(config.atom_limit);
    if let Some(bytes) = config.message_area.filter(|_| area::is_wanted()) {
        area::want(bytes);
    }
    proctab::init(config.process_limit);
    heddle_natives::io::names::set_utf8(config.utf8_names);
    heddle_natives::io::names::set_untranslatable(config.untranslatable_names);
    register_natives();
    heddle_term::code_hooks::install(heddle_term::code_hooks::CodeHooks {
        find_export: heddle_runtime::exports::get,
        is_known_export: |mfa| {
            heddle_runtime::exports::find(mfa)
                .is_some_and(|e| heddle_runtime::exports::is_loaded(e) || e.native.load(std::sync::atomic::Ordering::Acquire) != 0)
        },
        find_fun_entry: |k| {
            heddle_runtime::funs::get(&heddle_runtime::funs::FunInfo {
                module: k.module,
                function: Atom::new(""),
                arity: k.arity,
                num_free: k.num_free,
                index: k.index,
                old_uniq: k.old_uniq,
                uniq: k.uniq,
            })
        },
        find_magic: |words| heddle_natives::ets::find_magic(words).or_else(|| heddle_term::resource::recall(words)),
    });
    let Resolved { schedulers, online, dirty_cpu, dirty_cpu_online } = threads;
    let program = std::env::current_exe().ok().map(|path| std::os::unix::ffi::OsStringExt::into_vec(path.into_os_string()));
    let _ = heddle_natives::system::info::SETTINGS.set(heddle_natives::system::info::Settings {
        otp_release: otp.release.clone(),
        erts_version: otp.erts_version.clone(),
        printable_unicode: config.printable_unicode,
        warning_map: config.warning_map,
        emu_flavor: "interpreter",
        emu_args: program.into_iter().chain(flags.iter().chain(&arguments).cloned()).collect(),
        break_ignored: config.on_break == Break::Ignore,
    });
    binding::init(schedulers);
    sched::init(
        sched::Options { schedulers, online, dirty_cpu, dirty_cpu_online, dirty_io: config.threads.dirty_io },
        Box::new(Interpreter),
    );
    loader::Options { analyse_messages: area::is_wanted() && !Direct::Never.is() }.set();
    heddle_modules::load();
    let dir = otp.root.join(format!("lib/erts-{}/ebin", otp.erts_version));
    for module in PRELOADED {
        let path = dir.join(format!("{module}.beam"));
        let loaded = std::fs::read(&path).map_err(|e| e.to_string()).and_then(|b| code_natives::preload(&b).map_err(|e| e.to_string()));
        if let Err(problem) = loaded {
            heddle_term::complain!("heddle: cannot load {}: {problem}\n", path.display());
            std::process::exit(1);
        }
    }
    signals::install(config.on_break);
    crate::crash::install();
    heddle_memory::on_failure(heddle_natives::system::halt::out_of_memory);
    first_processes(&config.boot_module, &arguments);
    sched::start();
    time_offset::watch_clock();
    if let Some(limit) = config.watch {
        watch::start(limit);
    }
    loop {
        std::thread::park();
    }
}

fn first_processes(boot_module: &str, arguments: &[Vec<u8>]) {
    let mut heap = Heap::new();
    let binaries: Vec<Term> = arguments.iter().map(|a| heap.binary(a)).collect();
    let list = heap.list(&binaries);
    let args = heap.list(&[Atom::new(boot_module).into(), list]);
    let system = |priority, off_heap_messages| SpawnOptions { priority, off_heap_messages, ..SpawnOptions::default() };
    let spawn = |module: &str, function: &str, args: Term, options: &SpawnOptions| {
        let mut arity = 0;
        let mut t = args;
        while t.is_cons() {
            arity += 1;
            t = t.tail();
        }
        let mfa = Mfa { module: Atom::new(module), function: Atom::new(function), arity };
        spawn::create(mfa, args, None, options).expect("an empty process table")
    };
    use Priority::{High, Max, Normal};
    let init = spawn("erl_init", "start", args, &system(Normal, false));
    let others = [
        ("erts_code_purger", High),
        ("erts_literal_area_collector", High),
        ("erts_dirty_process_signal_handler", Normal),
        ("erts_dirty_process_signal_handler", High),
        ("erts_dirty_process_signal_handler", Max),
        ("erts_trace_cleaner", Normal),
    ];
    let mut all = vec![init];
    for (module, priority) in others {
        let p = spawn(module, "start", Term::NIL, &system(priority, true));
        // SAFETY: not started yet: we are its owner.
        unsafe { p.local().group_leader = init.pid_term() };
        if module == "erts_literal_area_collector" {
            heddle_runtime::literals::set_collector(p.pid);
        }
        all.push(p);
    }
    for p in all {
        sched::start_process(p);
    }
    heap.clear();
}
