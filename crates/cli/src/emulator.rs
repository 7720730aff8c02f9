//! Starting the machine: settings, natives, preloaded modules, the first processes.

use crate::otp::Otp;
use heddle_engine::{Interpreter, code_natives};
use heddle_runtime::process::{Priority, SpawnOptions};
use heddle_runtime::{proctab, sched, spawn, time, zeal};
use heddle_term::code_cell::Mfa;
use heddle_term::{Atom, Heap, Term, atom};
use std::ffi::OsString;

/// Modules that are there before any process runs, in loading order (spec 1).
const PRELOADED: &[&str] = &[
    "erts_code_purger", "erl_init", "init", "prim_buffer", "prim_eval", "prim_inet", "prim_file", "zlib", "socket_registry",
    "prim_socket", "prim_net", "prim_zip", "erl_prim_loader", "erlang", "erts_internal", "erl_tracer",
    "erts_literal_area_collector", "erts_trace_cleaner", "erts_dirty_process_signal_handler", "atomics", "counters",
    "persistent_term",
];

pub struct Config {
    pub schedulers: Option<usize>,
    pub online: Option<usize>,
    pub dirty_cpu: Option<usize>,
    pub dirty_io: usize,
    pub process_limit: usize,
    pub atom_limit: usize,
    pub printable_unicode: bool,
    pub warning_map: &'static str,
    pub boot_module: String,
    pub env: Vec<(OsString, OsString)>,
    pub utf8_names: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            schedulers: None,
            online: None,
            dirty_cpu: None,
            dirty_io: 10,
            process_limit: proctab::DEFAULT_LIMIT,
            atom_limit: atom::DEFAULT_LIMIT,
            printable_unicode: false,
            warning_map: "warning",
            boot_module: "init".into(),
            env: Vec::new(),
            utf8_names: true,
        }
    }
}

fn number(flag: &str, value: Option<&Vec<u8>>) -> Result<usize, String> {
    value
        .and_then(|v| std::str::from_utf8(v).ok()?.parse().ok())
        .ok_or_else(|| format!("{flag}: a number is needed, got {}", value.map_or("nothing".into(), |v| String::from_utf8_lossy(v).into_owned())))
}

/// One emulator flag; how many further arguments it took.
pub fn flag(config: &mut Config, flag: &[u8], value: Option<&Vec<u8>>) -> Result<usize, String> {
    let text = String::from_utf8_lossy(flag).into_owned();
    let name = &text[1..];
    match name {
        _ if name == "S" || (name.starts_with('S') && name[1..].starts_with(|c: char| c.is_ascii_digit())) => {
            let attached = name.len() > 1;
            let spec = if attached { name[1..].to_string() } else { String::from_utf8_lossy(value.ok_or("+S: how many schedulers?")?).into_owned() };
            let mut parts = spec.splitn(2, ':');
            let parse = |s: &str| s.parse::<usize>().map_err(|_| format!("+S {spec}: expected SCHEDULERS[:ONLINE]"));
            let first = parts.next().unwrap_or("");
            if !first.is_empty() {
                let n = parse(first)?;
                if !(1..=1024).contains(&n) {
                    return Err(format!("+S {spec}: between 1 and 1024 schedulers"));
                }
                config.schedulers = Some(n);
            }
            if let Some(online) = parts.next() {
                let n = parse(online)?;
                let total = config.schedulers.unwrap_or(cores());
                if n < 1 || n > total {
                    return Err(format!("+S {spec}: online schedulers must be between 1 and {total}"));
                }
                config.online = Some(n);
            }
            Ok(if attached { 0 } else { 1 })
        }
        "P" => {
            config.process_limit = number("+P", value)?;
            Ok(1)
        }
        "t" => {
            config.atom_limit = number("+t", value)?.max(8192);
            Ok(1)
        }
        "SDcpu" => {
            let text = String::from_utf8_lossy(value.ok_or("+SDcpu: how many?")?).into_owned();
            config.dirty_cpu = text.split(':').next().and_then(|n| n.parse().ok());
            Ok(1)
        }
        "SDio" => {
            config.dirty_io = number("+SDio", value)?;
            Ok(1)
        }
        "hms" => {
            spawn::MIN_HEAP_WORDS.store(heddle_runtime::sizes::at_least(number("+hms", value)?), std::sync::atomic::Ordering::Relaxed);
            Ok(1)
        }
        "hmax" => {
            spawn::MAX_HEAP_WORDS.store(number("+hmax", value)?, std::sync::atomic::Ordering::Relaxed);
            Ok(1)
        }
        "pc" => {
            config.printable_unicode = value.is_some_and(|v| v == b"unicode");
            Ok(1)
        }
        "i" => {
            config.boot_module = String::from_utf8_lossy(value.ok_or("+i: which module?")?).into_owned();
            Ok(1)
        }
        _ => accepted(name, &text),
    }
}

/// Flags of stock that mean nothing here (yet) but must not stop a start.
fn accepted(name: &str, text: &str) -> Result<usize, String> {
    const WITH_VALUE: &[&str] = &[
        "A", "a", "c", "C", "e", "Q", "hmbs", "hmaxk", "hmaxel", "hmaxib", "hpds", "hmqd", "IOt", "IOp", "IOPt", "IOPp", "IOs", "K", "R", "rg",
        "SP", "SDPcpu", "sbt", "sbwt", "sbwtdcpu", "sbwtdio", "scl", "sct", "secio", "sfwi", "spp", "sss", "ssdcpu", "ssdio", "stbt", "sub", "swct", "sws", "swt",
        "swtdcpu", "swtdio", "T", "zdbbl", "zdntgc", "zebwt", "zosrl", "zhft", "JDdump", "JPperf", "JPcover", "JMsingle", "pad", "dcg", "MMscs", "Mea",
    ];
    const ALONE: &[&str] = &["B", "Bc", "Bd", "Bi", "d", "L", "r", "v", "W", "We", "Wi", "Ww", "fnu", "fna", "fnl", "fnuw", "fnui", "fnue", "fnaw", "fnai", "fnae", "n", "ns", "nd", "na", "sbtu", "sbtdb"];
    if WITH_VALUE.contains(&name) {
        return Ok(1);
    }
    if ALONE.contains(&name) || name.starts_with('M') || name.starts_with("sbt") || name.starts_with('W') {
        return Ok(if name.starts_with('M') && !ALONE.contains(&name) { 1 } else { 0 });
    }
    Err(format!("bad flag: {text} (an emulator flag this machine does not know; `heddle --help` lists them)"))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

pub fn start(config: Config, otp: &Otp, arguments: Vec<Vec<u8>>) -> ! {
    if let Ok(modes) = std::env::var("HEDDLE_ZEAL")
        && let Err(message) = zeal::set(&modes)
    {
        eprintln!("heddle: {message}");
        std::process::exit(1);
    }
    time::init();
    atom::set_limit(config.atom_limit);
    proctab::init(config.process_limit);
    heddle_natives::io::names::set_utf8(config.utf8_names);
    heddle_engine::init();
    heddle_natives::register();
    heddle_runtime::natives::register(code_natives::TABLE);
    heddle_engine::install_natives();
    let _ = heddle_natives::process::system_tasks::USES_OLD_CODE.set(code_natives::uses_old_code);
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
        find_magic: heddle_term::resource::recall,
    });
    let schedulers = config.schedulers.unwrap_or_else(cores);
    let _ = heddle_natives::system::info::SETTINGS.set(heddle_natives::system::info::Settings {
        otp_release: otp.release.clone(),
        erts_version: otp.erts_version.clone(),
        printable_unicode: config.printable_unicode,
        warning_map: config.warning_map,
        backtrace_depth: &heddle_engine::ops::errors::BACKTRACE_DEPTH,
        emu_flavor: "interpreter",
        break_ignored: false,
    });
    sched::init(
        sched::Options {
            schedulers,
            online: config.online.unwrap_or(schedulers),
            dirty_cpu: config.dirty_cpu.unwrap_or(schedulers),
            dirty_io: config.dirty_io,
        },
        Box::new(Interpreter),
    );
    let dir = otp.root.join(format!("lib/erts-{}/ebin", otp.erts_version));
    for module in PRELOADED {
        let path = dir.join(format!("{module}.beam"));
        let loaded = std::fs::read(&path).map_err(|e| e.to_string()).and_then(|b| code_natives::preload(&b).map_err(|e| e.to_string()));
        if let Err(problem) = loaded {
            eprintln!("heddle: cannot load {}: {problem}", path.display());
            std::process::exit(1);
        }
    }
    first_processes(&config.boot_module, &arguments);
    sched::start();
    loop {
        std::thread::park();
    }
}

fn first_processes(boot_module: &str, arguments: &[Vec<u8>]) {
    let mut heap = Heap::new();
    let binaries: Vec<Term> = arguments.iter().map(|a| heap.binary(a)).collect();
    let list = heap.list(&binaries);
    let args = heap.list(&[Atom::new(boot_module).into(), list]);
    let system = |priority, off_heap_messages| SpawnOptions { priority, off_heap_messages, system_process: true, ..SpawnOptions::default() };
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
        all.push(p);
    }
    for p in all {
        sched::start_process(p);
    }
    heap.clear();
}
