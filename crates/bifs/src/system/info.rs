//! `system_info`, `system_flag`, and their settings.

use super::{allocators, binding, known_nodes, multi_scheduling};
use crate::process::flags::{max_heap, max_heap_term};
use heddle_abi::settings::{Break, FOREVER_MS, Number, SETTINGS};
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::{affinity, dirty, msacc, nodes, proctab, sched, spawn, time, time_offset, wall_time};
use heddle_term::{Atom, Term, am};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "system_info"/1 => system_info,
        "system_flag"/2 => system_flag,
    }
    "erts_internal" => {
        "system_check"/1 => system_check,
        "scheduler_wall_time"/1 => scheduler_wall_time,
    }
    "error_logger" => { "warning_map"/0 => warning_map }
}

/// What the command line started. `cli` sets it once.
pub struct Launch {
    pub otp_release: String,
    pub erts_version: String,
    pub emu_flavor: &'static str,
    /// The program and its arguments, as `erlexec` would call the emulator.
    pub emu_args: Vec<Vec<u8>>,
}

pub static LAUNCH: OnceLock<Launch> = OnceLock::new();

pub fn launch() -> &'static Launch {
    LAUNCH.get().expect("set before code runs")
}

pub fn system_version() -> String {
    let o = sched::options();
    let s = launch();
    format!(
        "Erlang/OTP {} [erts-{}] [heddle-{}] [64-bit] [smp:{}:{}] [ds:{}:{}:{}] [interpreter]\n",
        s.otp_release,
        s.erts_version,
        env!("CARGO_PKG_VERSION"),
        o.schedulers,
        sched::online(),
        o.dirty_cpu,
        dirty::online(),
        o.dirty_io
    )
}

fn system_info(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(key) = a[0].as_atom() {
        return by_name(p, key.name());
    }
    match a[0].as_tuple() {
        // The figures come as messages, which Erlang code adds up.
        Some(&[key, names]) if key.is_atom_of(Atom::new("allocator_sizes")) => {
            Err(p.trap_to(am::ERLANG, Atom::new("alloc_sizes"), &[names]))
        }
        Some(&[key, names]) if key.is_atom_of(Atom::new("allocator")) && names.is_list() => {
            Err(p.trap_to(am::ERLANG, Atom::new("alloc_info"), &[names]))
        }
        Some([key, value]) => match (key.as_atom().map(|k| k.name()), value.as_atom().map(|v| v.name())) {
            (Some("wordsize"), Some("internal" | "external")) => Ok(Term::small(8)),
            // The figures come as messages, which Erlang code adds up.
            (Some("allocator"), Some(name)) if allocators::is_known(name) => Err(p.trap_to(am::ERLANG, Atom::new("alloc_info"), &[*value])),
            (Some("cpu_topology"), Some(what)) => match binding::topology(&mut p.heap, what) {
                Some(topology) => Ok(topology),
                None => Err(p.badarg()),
            },
            _ => Err(p.badarg()),
        },
        Some(&[key, reference, allocators]) => {
            let question = match key.as_atom().map(|k| k.name()) {
                Some("memory_internal") => allocators::Question::Memory,
                Some("allocator_sizes") => allocators::Question::Sizes,
                Some("allocator") => allocators::Question::All,
                _ => return Err(p.badarg()),
            };
            allocators::sizes(p, question, reference, allocators)
        }
        _ => Err(p.badarg()),
    }
}

fn atom(name: &str) -> Term {
    Atom::new(name).into()
}

fn by_name(p: &mut Process, key: &str) -> NativeResult {
    let o = sched::options();
    let small = |n: usize| Term::small(n as i64);
    Ok(match key {
        "os_type" => {
            static OS: OnceLock<(Atom, Atom)> = OnceLock::new();
            let (unix, linux) = OS.get_or_init(|| (Atom::new("unix"), Atom::new(std::env::consts::OS)));
            p.heap.tuple(&[(*unix).into(), (*linux).into()])
        }
        "os_version" => {
            let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
            let parts: Vec<Term> = release
                .trim()
                .split(|c: char| !c.is_ascii_digit())
                .filter_map(|n| n.parse::<i64>().ok())
                .chain(std::iter::repeat(0))
                .take(3)
                .map(Term::small)
                .collect();
            p.heap.tuple(&parts)
        }
        "schedulers" => small(o.schedulers),
        "schedulers_online" => small(multi_scheduling::online()),
        "schedulers_active" => small(multi_scheduling::active()[0]),
        "schedulers_total" => small(o.schedulers),
        "schedulers_state" => p.heap.tuple(&[o.schedulers, multi_scheduling::online(), multi_scheduling::active()[0]].map(small)),
        "all_schedulers_state" => {
            let kinds = ["normal", "dirty_cpu", "dirty_io"].into_iter().zip([o.schedulers, o.dirty_cpu, o.dirty_io]);
            let online = [multi_scheduling::online(), dirty::online(), o.dirty_io];
            let rows = kinds.zip(online.into_iter().zip(multi_scheduling::active()));
            let rows: Vec<Term> =
                rows.map(|((kind, all), (on, active))| p.heap.tuple(&[atom(kind), small(all), small(on), small(active)])).collect();
            p.heap.list(&rows)
        }
        "scheduler_id" => small(sched::current_id()),
        "run_queues" => small(o.schedulers),
        "dirty_cpu_schedulers" => small(o.dirty_cpu),
        "dirty_cpu_schedulers_online" => small(dirty::online()),
        "dirty_io_schedulers" => small(o.dirty_io),
        "multi_scheduling" => multi_scheduling::state(),
        "multi_scheduling_blockers" => p.heap.list(&multi_scheduling::blockers(false)),
        "normal_multi_scheduling_blockers" => p.heap.list(&multi_scheduling::blockers(true)),
        "smp_support" => Term::bool(!heddle_runtime::sequential::is_on()),
        "lock_counting" | "threads" | "port_tasks" | "constant_pool_support" | "eager_check_io" => Term::bool(true),
        "kernel_poll" => Term::bool(true),
        "lock_checking"
        | "debug_compiled"
        | "io_thread"
        | "port_parallelism"
        | "dynamic_trace_probes"
        | "ets_realloc_moves"
        | "ets_always_compress" => Term::bool(false),
        "async_dist" => Term::bool(SETTINGS.async_dist.is_on()),
        "break_ignored" => Term::bool(SETTINGS.on_break.is(Break::Ignore)),
        "beam_jump_table" => Term::bool(true),
        "emu_args" => {
            let words: Vec<Term> = launch().emu_args.iter().map(|word| p.heap.byte_list(word)).collect();
            p.heap.list(&words)
        }
        "dynamic_trace" => atom("none"),
        "scheduler_bind_type" => binding::kind().into(),
        "scheduler_bindings" => binding::bindings(&mut p.heap),
        "cpu_topology" => binding::topology(&mut p.heap, "used").expect("known"),
        // The VM was not built by a C compiler.
        "compile_info" => {
            let rows = ["ldflags", "cflags", "config_h"].map(|what| p.heap.tuple(&[atom(what), Term::NIL]));
            p.heap.list(&rows)
        }
        "c_compiler_used" => p.heap.tuple(&[am::UNDEFINED.into(), am::UNDEFINED.into()]),
        "cpu_quota" => atom("unknown"),
        "update_cpu_info" => {
            let now = allowed_processors();
            let before = PROCESSORS.swap(now, Ordering::Relaxed);
            atom(if before == now || before == 0 && now == affinity::processors() { "unchanged" } else { "changed" })
        }
        "logical_processors" | "logical_processors_online" => small(affinity::processors()),
        "logical_processors_available" => match PROCESSORS.load(Ordering::Relaxed) {
            0 => small(affinity::processors()),
            known => small(known),
        },
        "machine" => p.heap.string("BEAM"),
        "otp_release" => p.heap.string(&launch().otp_release),
        "version" => p.heap.string(&launch().erts_version),
        "system_version" => {
            let text = system_version();
            p.heap.string(&text)
        }
        "system_architecture" => p.heap.string(concat!("x86_64", "-pc-linux-gnu")),
        "emu_flavor" => atom(launch().emu_flavor),
        "emu_type" | "build_type" => atom("opt"),
        "wordsize" => small(8),
        "endian" => atom("little"),
        "heap_type" => atom(SETTINGS.memory.get().name()),
        "compat_rel" => small(launch().otp_release.parse().unwrap_or(27)),
        "driver_version" => p.heap.string("3.3"),
        "nif_version" => p.heap.string("2.17"),
        "creation" => Term::small(heddle_term::node::creation() as i64),
        "process_count" => small(proctab::count()),
        "process_limit" => small(proctab::limit()),
        "port_count" => small(heddle_io::ports::count()),
        "port_limit" => small(proctab::port_limit()),
        "atom_count" => small(heddle_term::atom::count()),
        "atom_limit" => small(heddle_term::atom::limit()),
        "ets_limit" => small(SETTINGS.ets_limit.get()),
        "ets_count" => small(heddle_ets::count()),
        "thread_pool_size" => small(SETTINGS.async_threads.get()),
        "context_reductions" => small(4000),
        "trace_control_word" => small(heddle_natives::spec::CONTROL_WORD.load(Ordering::Relaxed) as usize),
        "outstanding_system_requests_limit" => small(SYSTEM_REQUESTS.load(Ordering::Relaxed)),
        "dist_buf_busy_limit" => small(SETTINGS.node_busy_kib.get() << 10),
        "delayed_node_table_gc" => small(60),
        "halt_flush_timeout" => match SETTINGS.halt_flush_max_ms.get() {
            FOREVER_MS => am::INFINITY.into(),
            ms => Term::small(ms as i64),
        },
        "max_integer" => {
            let digits = [u64::MAX; heddle_term::big::MAX_DIGITS];
            p.heap.big_words(false, &digits)
        }
        "system_logger" => system_logger(heddle_runtime::exit::SYSTEM_LOGGER.load(Ordering::Relaxed)),
        // NIF libraries and drivers: none yet.
        "taints" => {
            let modules: Vec<Term> = heddle_runtime::code::nifs::taints().into_iter().map(Term::from).collect();
            p.heap.list(&modules)
        }
        "dist" => p.heap.binary(known_nodes::sections().as_bytes()),
        "dist_ctrl" => {
            let rows: Vec<Term> =
                nodes::nodes().carriers().into_iter().map(|(node, carrier)| p.heap.tuple(&[node.into(), carrier])).collect();
            p.heap.list(&rows)
        }
        "decentralized_counter_groups_map" => Term::NIL,
        "modified_timing_level" => am::UNDEFINED.into(),
        "tolerant_timeofday" => atom("disabled"),
        "time_correction" => Term::bool(time::is_corrected()),
        "time_warp_mode" => atom(time_offset::mode().name()),
        "time_offset" => atom(time_offset::state()),
        "start_time" => p.heap.integer(time::START_NS),
        "end_time" => p.heap.integer(8_646_911_283_000_000_000),
        "literal_test" => atom("range"),
        "message_queue_data" => atom(if SETTINGS.off_heap_messages.is_on() { "off_heap" } else { "on_heap" }),
        "min_heap_size" => pair(p, key, small(SETTINGS.min_heap_words.get())),
        "min_bin_vheap_size" => pair(p, key, small(SETTINGS.min_vheap_words.get())),
        "fullsweep_after" => pair(p, key, small(spawn::FULLSWEEP_AFTER.load(Ordering::Relaxed) as usize)),
        "max_heap_size" => max_heap_term(p, spawn::default_max_heap()),
        "garbage_collection" => {
            let max = SETTINGS.max_heap_words.get();
            let items = [
                ("max_heap_size", max),
                ("min_bin_vheap_size", SETTINGS.min_vheap_words.get()),
                ("min_heap_size", SETTINGS.min_heap_words.get()),
                ("fullsweep_after", spawn::FULLSWEEP_AFTER.load(Ordering::Relaxed) as usize),
            ];
            let items: Vec<Term> = items.iter().map(|&(k, v)| p.heap.tuple(&[atom(k), small(v)])).collect();
            p.heap.list(&items)
        }
        "heap_sizes" => {
            let sizes: Vec<Term> = heddle_runtime::sizes::all().iter().map(|&s| small(s)).collect();
            p.heap.list(&sizes)
        }
        "allocator" => allocators::settings(p),
        "check_io" => check_io(p),
        "ethread_info" => {
            // The names that stock has here. The operations are instructions of the compiler, not functions of a library.
            let rows = [("32-bit", "Rust"), ("64-bit", "Rust"), ("Double word", "no")].map(|(what, how)| {
                let (what, how) = (p.heap.string(&format!("{what} native atomics")), p.heap.string(how));
                p.heap.tuple(&[what, how, Term::NIL])
            });
            p.heap.list(&rows)
        }
        // Each scheduler has one event on which it waits.
        "ethread_used_tse" => small(o.schedulers + o.dirty_cpu + o.dirty_io),
        "alloc_util_allocators" => allocators::enabled(p),
        "allocated_areas" => allocators::allocated_areas(p),
        "sequential_tracer" => {
            let tracer = crate::trace::seq::tracer(p);
            pair(p, key, tracer)
        }
        "os_monotonic_time_source" => time_source(p, "CLOCK_MONOTONIC", time::monotonic_ns() - time::START_NS, true),
        "os_system_time_source" => time_source(p, "CLOCK_REALTIME", time::os_system_ns(), false),
        "loaded" => {
            let text = super::crash_dump::loaded();
            p.heap.binary(&text)
        }
        "info" => {
            let text = super::areas::areas();
            p.heap.binary(&text)
        }
        "procs" => {
            let Some(text) = super::crash_dump::all_processes(p) else {
                p.bump(4000);
                return Err(p.trap_to(am::ERLANG, Atom::new("system_info"), &[atom("procs")]));
            };
            p.heap.binary(&text)
        }
        "snifs" => {
            let mut list = Vec::new();
            heddle_runtime::exports::for_each(|e| {
                if e.native.load(Ordering::Acquire) != 0
                    && heddle_abi::natives::is_bif(e.mfa.module.name(), e.mfa.function.name(), e.mfa.arity)
                {
                    list.push(e.mfa);
                }
            });
            let list: Vec<Term> =
                list.into_iter().map(|m| p.heap.tuple(&[m.module.into(), m.function.into(), small(m.arity as usize)])).collect();
            p.heap.list(&list)
        }
        _ => return Err(p.badarg()),
    })
}

fn pair(p: &mut Process, key: &str, value: Term) -> Term {
    p.heap.tuple(&[atom(key), value])
}

/// Processors that the VM may run on, as of the last `update_cpu_info`; 0: none was asked for.
static PROCESSORS: AtomicUsize = AtomicUsize::new(0);

/// Asked for the first thread, which shows what other programs set for the whole process.
fn allowed_processors() -> usize {
    // SAFETY: an all-zero set is a valid one, and the destination has the size that is given.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        match libc::sched_getaffinity(libc::getpid(), size_of::<libc::cpu_set_t>(), &mut set) {
            0 => libc::CPU_COUNT(&set) as usize,
            _ => 1,
        }
    }
}

/// Descriptors that the VM may have open.
fn max_descriptors() -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a valid destination.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    limit.rlim_cur.min(1 << 30) as usize
}

/// The poller as one poll set, in the form of stock's.
fn check_io(p: &mut Process) -> Term {
    let (_, known) = heddle_io::ports::poll::counts();
    let small = |n: usize| Term::small(n as i64);
    let items = [
        ("name", atom("erts_poll")),
        ("primary", atom("epoll")),
        ("kernel_poll", atom("epoll")),
        ("memory_size", small(known * heddle_io::ports::poll::ENTRY_BYTES)),
        ("total_poll_set_size", small(known)),
        ("lazy_updates", Term::bool(true)),
        ("pending_updates", small(0)),
        ("batch_updates", Term::bool(false)),
        ("concurrent_updates", Term::bool(true)),
        ("fallback", Term::bool(false)),
        ("max_fds", small(max_descriptors())),
        ("active_fds", small(0)),
        ("poll_threads", small(1)),
    ];
    let items: Vec<Term> = items.into_iter().map(|(key, value)| p.heap.tuple(&[atom(key), value])).collect();
    let set = p.heap.list(&items);
    p.heap.list(&[set])
}

fn time_source(p: &mut Process, clock: &str, now: i64, extended: bool) -> Term {
    let mut items = vec![("function", atom("clock_gettime")), ("clock_id", atom(clock)), ("resolution", Term::small(1_000_000_000))];
    if extended {
        items.push(("used_resolution", Term::small(1_000_000_000)));
        items.push(("extended", atom("no")));
    }
    items.push(("parallel", atom("yes")));
    let now = p.heap.integer(now);
    items.push(("time", now));
    let items: Vec<Term> = items.into_iter().map(|(k, v)| p.heap.tuple(&[atom(k), v])).collect();
    p.heap.list(&items)
}

fn system_logger(cell: u64) -> Term {
    match cell {
        0 => am::LOGGER.into(),
        heddle_runtime::exit::NO_LOGGER => am::UNDEFINED.into(),
        n => Term::local_pid(n - 1),
    }
}

fn system_flag(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(flag) = a[0].as_atom() else { return Err(p.badarg()) };
    let small = |n: usize| Term::small(n as i64);
    let swap = |p: &mut Process, setting: &Number| match args::count(a[1]) {
        Some(n) => Ok(small(setting.swap(n))),
        None => Err(p.badarg()),
    };
    match flag.name() {
        "time_offset" if a[1].is_atom_of(Atom::new("finalize")) => Ok(Atom::new(time_offset::finalize()).into()),
        "backtrace_depth" => match args::count(a[1]).filter(|n| *n <= 1024) {
            Some(n) => Ok(small(heddle_runtime::stack::BACKTRACE_DEPTH.swap(n, Ordering::Relaxed))),
            None => Err(p.badarg()),
        },
        "trace_control_word" => match args::count(a[1]).and_then(|n| u32::try_from(n).ok()) {
            Some(word) => Ok(Term::small(heddle_natives::spec::CONTROL_WORD.swap(word, Ordering::Relaxed) as i64)),
            None => Err(p.badarg()),
        },
        "sequential_tracer" => crate::trace::seq::set_tracer(p, a[1]),
        "reset_seq_trace" if a[1].is_atom_of(am::TRUE) => crate::trace::seq::reset_all(p),
        "min_heap_size" => swap(p, &SETTINGS.min_heap_words),
        "min_bin_vheap_size" => swap(p, &SETTINGS.min_vheap_words),
        "fullsweep_after" => match args::count(a[1]) {
            Some(n) => Ok(small(spawn::FULLSWEEP_AFTER.swap(n.min(65535) as u64, Ordering::Relaxed) as usize)),
            None => Err(p.badarg()),
        },
        "outstanding_system_requests_limit" => match args::count(a[1]) {
            Some(n) if (1..=1 << 26).contains(&n) => Ok(small(SYSTEM_REQUESTS.swap(n, Ordering::Relaxed))),
            _ => Err(p.badarg()),
        },
        "max_heap_size" => {
            let current = spawn::default_max_heap();
            let Some(new) = max_heap(a[1], current) else { return Err(p.badarg()) };
            spawn::set_default_max_heap(new);
            Ok(max_heap_term(p, current))
        }
        "erts_alloc" => match a[1].as_tuple() {
            // No allocator can be configured.
            Some([name, parameter, _]) if parameter.is_atom() && name.as_atom().is_some_and(|n| allocators::is_known(n.name())) => {
                Ok(am::NOTSUP.into())
            }
            _ => Err(p.badarg()),
        },
        "multi_scheduling" => multi_scheduling::change(p, a),
        "scheduler_bind_type" => binding::set_kind(p, a[1]),
        "cpu_topology" => binding::set_topology(p, a[1]),
        "schedulers_online" => match args::count(a[1]).and_then(multi_scheduling::set_online) {
            Some(before) => Ok(small(before)),
            None => Err(p.badarg()),
        },
        "dirty_cpu_schedulers_online" => match args::count(a[1]).and_then(multi_scheduling::set_dirty_online) {
            Some(before) => Ok(small(before)),
            None => Err(p.badarg()),
        },
        "system_logger" => {
            let cell = &heddle_runtime::exit::SYSTEM_LOGGER;
            let new = match a[1].as_atom() {
                Some(am::LOGGER) => 0,
                Some(am::UNDEFINED) => heddle_runtime::exit::NO_LOGGER,
                Some(_) => return Err(p.badarg()),
                None if a[1].is_local_pid() => a[1].payload() + 1,
                None => return Err(p.badarg()),
            };
            Ok(system_logger(cell.swap(new, Ordering::Relaxed)))
        }
        // `kernel_refc` knows which processes want it, and switches it off after the last one.
        "scheduler_wall_time" if args::boolean(a[1]).is_some() => {
            Err(p.trap_to(Atom::new("erts_internal"), Atom::new("system_flag_scheduler_wall_time"), &[a[1]]))
        }
        "microstate_accounting" => Ok(Term::bool(match args::boolean(a[1]) {
            Some(on) => {
                let before = sched::switch_accounts(on);
                // Before the count began, this thread did not record that it runs a process.
                msacc::enter(msacc::ThreadState::Emulator);
                before
            }
            None if a[1].is_atom_of(Atom::new("reset")) => msacc::reset(),
            None => return Err(p.badarg()),
        })),
        _ => Err(p.badarg_cause(Atom::new("badopt"))),
    }
}

/// How many processes `erts_code_purger` asks at a time. It reads the limit itself.
static SYSTEM_REQUESTS: AtomicUsize = AtomicUsize::new(4);

/// `system_check(schedulers)`: every scheduler must answer. Here it is enough that the caller runs.
fn system_check(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[0].is_atom_of(Atom::new("schedulers")) {
        return Err(p.badarg());
    }
    Ok(am::OK.into())
}

/// (Boolean). Returns what it was.
fn scheduler_wall_time(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(on) = args::boolean(a[0]) else { return Err(p.badarg()) };
    Ok(Term::bool(wall_time::switch(on)))
}

fn warning_map(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(atom(SETTINGS.warning_map.get().name()))
}
