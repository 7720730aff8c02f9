//! `process_flag/2,3`, and the parsing that `spawn_opt` uses too.

use heddle_abi::settings::SETTINGS;
use heddle_natives::args;
use heddle_runtime::level::{Level, Priority};
use heddle_runtime::place::Place;
use heddle_runtime::placement;
use heddle_runtime::process::{FLAG_ASYNC_DIST, MaxHeap, NativeResult, Process};
use heddle_term::{Atom, Term, am, map};

heddle_runtime::natives! { TABLE:
    "erlang" => { "process_flag"/2 => process_flag_2 }
    "erts_internal" => { "process_flag"/3 => process_flag_3 }
}

pub fn priority(term: Term) -> Option<Priority> {
    Some(match term.as_atom()?.name() {
        "low" => Priority::Low,
        "normal" => Priority::Normal,
        "high" => Priority::High,
        "max" => Priority::Max,
        _ => return None,
    })
}

pub fn priority_atom(priority: Priority) -> Atom {
    Atom::new(match priority {
        Priority::Low => "low",
        Priority::Normal => "normal",
        Priority::High => "high",
        Priority::Max => "max",
    })
}

/// True for off_heap.
pub fn message_queue_data(term: Term) -> Option<bool> {
    match term.as_atom()?.name() {
        "off_heap" => Some(true),
        "on_heap" => Some(false),
        _ => None,
    }
}

/// A value of `max_heap_size`: an integer, or a map that changes some of the current settings.
pub fn max_heap(term: Term, current: MaxHeap) -> Option<MaxHeap> {
    if let Some(words) = args::count(term) {
        return Some(MaxHeap { size_words: words, ..current });
    }
    if !term.is_map() {
        return None;
    }
    let mut result = current;
    let get = |name: &str| map::get(term, Atom::new(name).into());
    result.size_words = args::count(get("size")?)?;
    if let Some(v) = get("kill") {
        result.kill = args::boolean(v)?;
    }
    if let Some(v) = get("error_logger") {
        result.error_logger = args::boolean(v)?;
    }
    if let Some(v) = get("include_shared_binaries") {
        result.include_shared_binaries = args::boolean(v)?;
    }
    Some(result)
}

pub fn max_heap_term(p: &mut Process, m: MaxHeap) -> Term {
    let pairs = [
        (am::ERROR_LOGGER.into(), Term::bool(m.error_logger)),
        (am::INCLUDE_SHARED_BINARIES.into(), Term::bool(m.include_shared_binaries)),
        (am::KILL.into(), Term::bool(m.kill)),
        (am::SIZE.into(), Term::small(m.size_words as i64)),
    ];
    map::from_pairs(&mut p.heap, &pairs)
}

fn process_flag_2(p: &mut Process, a: &[Term]) -> NativeResult {
    let value = a[1];
    let Some(flag) = a[0].as_atom() else {
        if let Some([name, _]) = a[0].as_tuple()
            && name.is_atom_of(Atom::new("monitor_nodes"))
        {
            return heddle_runtime::nodes::nodes().monitor_nodes(p, a[0].as_tuple().map_or(Term::NIL, |t| t[1]), value);
        }
        return Err(p.badarg());
    };
    let old = match flag.name() {
        "trap_exit" => {
            let Some(on) = args::boolean(value) else { return Err(p.badarg()) };
            Term::bool(std::mem::replace(&mut p.trap_exit, on))
        }
        "priority" => {
            let Some(new) = priority(value) else { return Err(p.badarg()) };
            let old = std::mem::replace(&mut p.priority, new);
            p.shared().state.set_level(Level::of(new));
            priority_atom(old).into()
        }
        "error_handler" => {
            let Some(module) = value.as_atom() else { return Err(p.badarg()) };
            std::mem::replace(&mut p.error_handler, module).into()
        }
        "fullsweep_after" => {
            let Some(n) = args::count(value) else { return Err(p.badarg()) };
            Term::small(std::mem::replace(&mut p.fullsweep_after, n.min(65535) as u16) as i64)
        }
        "min_heap_size" => {
            let new = args::count(value).and_then(|n| super::spawn::heap_size(n, &SETTINGS.min_heap_words));
            let Some(new) = new else { return Err(p.badarg()) };
            Term::small(std::mem::replace(&mut p.min_heap_words, new) as i64)
        }
        "min_bin_vheap_size" => {
            let Some(n) = args::count(value) else { return Err(p.badarg()) };
            Term::small(
                std::mem::replace(&mut p.rare().min_vheap_words, super::spawn::virtual_heap_size(n, &SETTINGS.min_vheap_words)) as i64
            )
        }
        "max_heap_size" => {
            let new = max_heap(value, p.max_heap()).filter(|new| new.size_words == 0 || new.size_words >= p.min_heap_words);
            let Some(new) = new else { return Err(p.badarg()) };
            let old = std::mem::replace(&mut p.rare().max_heap, new);
            max_heap_term(p, old)
        }
        "message_queue_data" => {
            let Some(new) = message_queue_data(value) else { return Err(p.badarg()) };
            let old = std::mem::replace(&mut p.off_heap_messages, new);
            Atom::new(if old { "off_heap" } else { "on_heap" }).into()
        }
        "sensitive" => {
            let Some(on) = args::boolean(value) else { return Err(p.badarg()) };
            heddle_runtime::trace::events::set_sensitive(p, on)
        }
        "async_dist" => {
            let Some(on) = args::boolean(value) else { return Err(p.badarg()) };
            let old = p.flags & FLAG_ASYNC_DIST != 0;
            p.flags = p.flags & !FLAG_ASYNC_DIST | if on { FLAG_ASYNC_DIST } else { 0 };
            Term::bool(old)
        }
        "save_calls" => {
            let Some(n) = saved_calls(value) else { return Err(p.badarg_cause(Atom::new("none"))) };
            Term::small(std::mem::replace(&mut p.rare().save_calls, n) as i64)
        }
        // The second call, after the move: see below.
        "scheduler" if value.is_catch_marker() => Term::small(value.payload() as i64),
        "scheduler" => {
            let Some(new) = super::spawn::scheduler(value) else { return Err(p.badarg()) };
            let old = match placement::place_of(p.shared()) {
                Place::Pinned(index) => index + 1,
                _ => 0,
            };
            placement::change(p.shared(), new.map_or(Place::Anywhere, Place::Pinned));
            if new.is_some() && new != heddle_runtime::sched::current_index() {
                // The process goes on at its new place: this slice is over, and the answer comes in the next one.
                p.bump(heddle_runtime::zeal::slice() as usize);
                return Err(p.again(&[a[0], Term::catch_marker(old as u64)]));
            }
            Term::small(old as i64)
        }
        "monitor_nodes" => return heddle_runtime::nodes::nodes().monitor_nodes(p, Term::NIL, value),
        _ => return Err(p.badarg_cause(Atom::new("badopt"))),
    };
    Ok(old)
}

/// A number of calls to save.
fn saved_calls(value: Term) -> Option<u32> {
    args::count(value).filter(|n| *n <= 10000).map(|n| n as u32)
}

/// (Pid, Flag, Value): only `save_calls` may be set for another process. The Erlang caller expects `badarg` or a reference.
fn process_flag_3(p: &mut Process, a: &[Term]) -> NativeResult {
    let is_there = a[0].is_local_pid() && heddle_runtime::proctab::lookup(a[0].payload()).is_some();
    if !is_there {
        let is_elsewhere = a[0].is_pid() && !a[0].is_local_pid();
        return Ok(if is_elsewhere { am::BADARG.into() } else { Atom::new("badtype").into() });
    }
    let Some(n) = saved_calls(a[2]).filter(|_| a[1].is_atom_of(Atom::new("save_calls"))) else { return Ok(am::BADARG.into()) };
    if a[0] == p.pid_term() {
        return process_flag_2(p, &a[1..]);
    }
    Ok(heddle_runtime::send::ask_for(p, a[0].payload(), move |other| {
        other.map_or(am::BADARG.into(), |q| Term::small(std::mem::replace(&mut q.rare().save_calls, n) as i64))
    }))
}
