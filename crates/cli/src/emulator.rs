//! Starting the VM: settings, natives, preloaded modules, the first processes.

use crate::code_file::CodeFile;
use crate::otp::Otp;
use crate::threads::{Resolved, Threads};
use heddle_abi::flags::{self, Effect, Wrong};
use heddle_abi::settings::{Direct, MIN_ETS_LIMIT, MemoryArchitecture, SETTINGS, Untranslatable};
use heddle_bifs::system::binding;
use heddle_bifs::system::signals;
use heddle_engine::loader;
use heddle_engine::{Interpreter, code_natives, heddle_modules};
use heddle_memory::space;
use heddle_runtime::level::Priority;
use heddle_runtime::process::SpawnOptions;
use heddle_runtime::{proctab, sched, sequential, sizes, spawn, time, time_offset, watch, zeal};
use heddle_term::area;
use heddle_term::code_cell::Mfa;
use heddle_term::{Atom, Heap, Term};
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

/// No function is called as often.
const NEVER: usize = 1_000_000_000;

/// What flags decide that is no single value of `heddle_abi::settings`.
pub struct Config {
    /// `-smp disable`: threads take turns, and one scheduler does without read-modify-writes.
    pub sequential: bool,
    pub threads: Threads,
    pub boot_module: String,
    pub code_file: CodeFile,
}

impl Default for Config {
    fn default() -> Self {
        Config { sequential: false, threads: Threads::new(cores()), boot_module: "init".into(), code_file: CodeFile::Default }
    }
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
    let done = match found.flag.effect {
        Effect::Sets(field, check) => check.value(name, value).map(|value| field.store(value)).and_then(|()| complete(name, value)),
        Effect::ByCli => honour(config, name, value),
        Effect::None => Ok(()),
    };
    done.map_err(|problem| {
        if ["bad ", "setting ", "Invalid "].iter().any(|own| problem.starts_with(own)) { problem } else { format!("heddle: {problem}") }
    })?;
    Ok(usize::from(found.used_next))
}

/// After a field was set: what its row of the table cannot say.
fn complete(name: &str, value: &str) -> Result<(), String> {
    match name {
        "hms" => {
            let words = sizes::at_least(SETTINGS.min_heap_words.get());
            if !heddle_memory::fits(words.saturating_mul(8)) {
                return Err(format!("+hms {value}: the computer has less memory than that for each process"));
            }
            SETTINGS.min_heap_words.set(words);
        }
        "A" => SETTINGS.async_threads.set(SETTINGS.async_threads.get().max(1)),
        "e" => SETTINGS.ets_limit.set(SETTINGS.ets_limit.get().max(MIN_ETS_LIMIT)),
        "hmbs" => SETTINGS.min_vheap_words.set(sizes::at_least(SETTINGS.min_vheap_words.get())),
        "scl" | "sub" if SETTINGS.by_utilisation.is_on() => SETTINGS.compaction.set(false),
        _ => {}
    }
    Ok(())
}

/// The flags that set more, or other things, than one field.
fn honour(config: &mut Config, name: &str, value: &str) -> Result<(), String> {
    match name {
        "S" => config.threads.set(value)?,
        "SP" => config.threads.set_percent(value)?,
        "SDcpu" => config.threads.set_dirty_cpu(value)?,
        "SDPcpu" => config.threads.set_dirty_cpu_percent(value)?,
        "SDio" => config.threads.set_dirty_io(value)?,
        "sbt" | "stbt" => binding::type_flag(value)?,
        "sct" => binding::topology_flag(value)?,
        "ssrct" => binding::detect_nothing(),
        "i" => config.boot_module = value.into(),
        "fnu" => {
            SETTINGS.utf8_names.set(true);
            SETTINGS.untranslatable_names.set(untranslatable(value));
        }
        "fnl" => SETTINGS.utf8_names.set(false),
        "fna" => {
            SETTINGS.utf8_names.set(utf8_locale());
            SETTINGS.untranslatable_names.set(untranslatable(value));
        }
        "JMfile" => config.code_file = if value == "none" { CodeFile::None } else { CodeFile::At(value.into()) },
        "V" => crate::erl::print_version(),
        _ => unreachable!("+{name} is by_cli in the table of flags, and not here"),
    }
    Ok(())
}

fn untranslatable(value: &str) -> Untranslatable {
    match value {
        "i" => Untranslatable::Ignore,
        "e" => Untranslatable::Error,
        _ => Untranslatable::Warning,
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
    heddle_ets::register();
    heddle_io::register();
    heddle_bifs::register();
    heddle_linkin::register();
    heddle_dist::register();
    heddle_runtime::natives::register(code_natives::TABLE);
    heddle_runtime::natives::register(heddle_modules::TABLE);
    heddle_runtime::natives::register(heddle_engine::second_tier::figures::TABLE);
    heddle_engine::install_natives();
}

/// Readies what loads modules and compiles their functions where no VM runs. None is compiled by the way.
pub fn ready_to_compile() {
    SETTINGS.jit.set(NEVER);
    heddle_term::atom::set_limit(heddle_term::atom::MAX_LIMIT);
    register_natives();
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
    if SETTINGS.memory.is(MemoryArchitecture::Shared) {
        heddle_runtime::shared::want();
    }
    config.code_file.open().unwrap_or_else(|problem| crate::erl::fail(&format!("heddle: {problem}")));
    proctab::init(SETTINGS.process_limit.get(), SETTINGS.port_limit.get());
    register_natives();
    heddle_nif::install(&otp.erts_version, &otp.release);
    heddle_linkin::install();
    heddle_term::code_hooks::install(heddle_term::code_hooks::CodeHooks {
        find_export: heddle_runtime::exports::get,
        is_known_export: |mfa| {
            heddle_runtime::exports::find(mfa)
                .is_some_and(|e| heddle_runtime::exports::is_loaded(e) || e.native.load(std::sync::atomic::Ordering::Acquire) != 0)
        },
        has_export: |mfa| heddle_runtime::exports::find(mfa).is_some(),
        has_fun_entry: |k| heddle_runtime::funs::is_there(k.module, k.uniq, k.index),
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
        find_magic: |words| heddle_ets::find_magic(words).or_else(|| heddle_term::resource::recall(words)),
    });
    let Resolved { schedulers, online, dirty_cpu, dirty_cpu_online } = threads;
    let program = std::env::current_exe().ok().map(|path| std::os::unix::ffi::OsStringExt::into_vec(path.into_os_string()));
    let _ = heddle_bifs::system::info::LAUNCH.set(heddle_bifs::system::info::Launch {
        otp_release: otp.release.clone(),
        erts_version: otp.erts_version.clone(),
        emu_flavor: if heddle_engine::second_tier::mode() == heddle_engine::second_tier::Mode::Off { "emu" } else { "jit" },
        emu_args: program.into_iter().chain(flags.iter().chain(&arguments).cloned()).collect(),
    });
    binding::init(schedulers);
    sched::init(
        sched::ThreadCounts { schedulers, online, dirty_cpu, dirty_cpu_online, dirty_io: config.threads.dirty_io },
        Box::new(Interpreter),
    );
    loader::LoadOptions { analyse_messages: area::is_wanted() && !SETTINGS.direct.is(Direct::Never) }.set();
    heddle_modules::load();
    for module in PRELOADED {
        let path = otp.preloaded.join(format!("{module}.beam"));
        let loaded = std::fs::read(&path).map_err(|e| e.to_string()).and_then(|b| code_natives::preload(&b).map_err(|e| e.to_string()));
        if let Err(problem) = loaded {
            heddle_term::complain!("heddle: cannot load {}: {problem}\n", path.display());
            std::process::exit(1);
        }
    }
    signals::install();
    crate::crash::install();
    heddle_memory::on_failure(heddle_bifs::system::halt::out_of_memory);
    first_processes(&config.boot_module, &arguments);
    sched::start();
    time_offset::watch_clock();
    match SETTINGS.watch_ns.get() {
        0 => {}
        ns => watch::start(Duration::from_nanos(ns as u64)),
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
