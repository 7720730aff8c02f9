//! `erts_debug:get_internal_state/1` and `set_internal_state/2`: how OTP's own tests look into the VM. Both raise `undef`,
//! as an unloaded function would, until `set_internal_state(available_internal_state, true)`. A key that only describes the inside of stock is
//! `badarg` here.

use super::{binding, internal_nodes as nodes, internal_tables as tables};
use crate::process::info;
use crate::tasks::probe;
use heddle_natives::{args, long};
use heddle_runtime::CollectionKind;
use heddle_runtime::code::nifs;
use heddle_runtime::mode;
use heddle_runtime::process::{FLAG_DETACHED, NativeResult, Process, Thrown};
use heddle_runtime::{Package, balance, exit, gc, long_gc, proctab, qsbr, refs, sched, send, stop_world, timer_refs};
use heddle_term::bits::BitsView;
use heddle_term::ident::RefView;
use heddle_term::refbin::RefBin;
use heddle_term::resource::{ResourcePtr, is_written, share};
use heddle_term::{Atom, Kind, Resource, Term, am, big, hash, map};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

heddle_runtime::natives! { TABLE:
    "erts_debug" => {
        "get_internal_state"/1 => get_internal_state,
        "set_internal_state"/2 => set_internal_state,
    }
}

/// The state of a key, or of `{Key, Value}` (the value is none for a key). None: there is no such state.
pub type State = fn(&mut Process, &str, Term) -> Option<NativeResult>;

/// States of another crate.
pub static OF_OTHERS: OnceLock<State> = OnceLock::new();
static AVAILABLE: AtomicBool = AtomicBool::new(false);
/// How long `block` waits for the other schedulers to stop.
const LONGEST_STOP_MS: u64 = 10_000;

fn get_internal_state(p: &mut Process, a: &[Term]) -> NativeResult {
    let available = AVAILABLE.load(Ordering::Relaxed);
    if a[0].is_atom_of(Atom::new("available_internal_state")) {
        return Ok(Term::bool(available));
    }
    if !available {
        return Err(p.error(am::UNDEF));
    }
    if let Some(key) = a[0].as_atom() {
        return match key.name() {
            "reds_left" => Err(Thrown::ReductionsLeft),
            key @ ("next_pid" | "next_port") => Ok(p.heap.unsigned(tables::next_identity(key).expect("one of them"))),
            "node_and_dist_references" => nodes::references(p),
            "check_io_debug" => Ok(tables::check_io(p)),
            "heddle_task_probe" => Ok(Term::small(probe::living() as i64)),
            "nbalance" => Ok(p.heap.unsigned(balance::balanced())),
            "process_info_args" => {
                let keys: Vec<Term> = info::stock_keys().map(|key| Atom::new(key).into()).collect();
                Ok(p.heap.list(&keys))
            }
            "processes" => info::processes(p, &[]),
            // How `processes/0` works: it reads the whole table at once, whatever reductions are left, ten pids for one of them; a process that
            // ends meanwhile needs no care.
            "processes_bif_info" => {
                let table = proctab::limit();
                let figures = [0, 1, table, table, 0, 0, 0, 10, 0].map(|n| Term::small(n as i64));
                Ok(p.heap.tuple(&[&[Atom::new("ptab_list_bif_info").into()], &figures[..]].concat()))
            }
            "memory" => Err(p.trap_to(am::ERLANG, Atom::new("memory"), &[])),
            "stack_check" => Ok(p.heap.unsigned(stack_left())),
            "lc_graph" => Ok(am::NOTSUP.into()),
            "scheduler_dump" => Ok(Term::bool(false)),
            "persistent_term" => {
                let size = Term::small(crate::data::persistent_term::slots() as i64);
                Ok(map::from_pairs(&mut p.heap, &[(Atom::new("table").into(), size)]))
            }
            // Counters of tables have no memory that could be told apart.
            "flxctr_memory_usage" => Ok(am::NOTSUP.into()),
            "min_unique_monotonic_integer" => Ok(Term::small(-(refs::UNIQUE_BELOW as i64))),
            "unique_monotonic_integer_state" => Ok(p.heap.unsigned(refs::next_monotonic().wrapping_sub(1))),
            "force_heap_frags" | "hashmap_collision_bonanza" => Ok(Term::bool(false)),
            key => of_others(p, key, Term::NONE),
        };
    }
    if let Some([key, _, _]) = a[0].as_tuple()
        && key.is_atom_of(Atom::new("check_time_config"))
    {
        // Time is corrected in all modes of time warp, and may be left as it is in all of them.
        return Ok(Term::bool(true));
    }
    match args::option(a[0]) {
        Some((key, value)) => match key.name() {
            "process_status" if value.is_local_pid() => Ok(tables::status(value.payload())),
            "fake_scheduler_bindings" => match binding::fake(&mut p.heap, value) {
                Some(bindings) => Ok(bindings),
                None => Err(p.badarg()),
            },
            "link_list" if !value.is_atom() => tables::relations(p, true, value),
            "monitor_list" if !value.is_atom() => tables::relations(p, false, value),
            "magic_ref" => match magic(value) {
                Some((address, references)) => {
                    let address = p.heap.unsigned(address);
                    Ok(p.heap.tuple(&[address, Term::small(references as i64), Term::bool(true)]))
                }
                // A magic reference that was decoded when its object was gone.
                None if value.is_reference() => {
                    Ok(Term::bool(RefView::of(value).is_some_and(|r| is_written([r.words[0], r.words[1], r.words[2]]))))
                }
                None => Err(p.badarg()),
            },
            "atom" => {
                let rank = args::count(value).and_then(|rank| u32::try_from(rank).ok());
                rank.and_then(Atom::of_rank).map(Term::atom).ok_or_else(|| p.badarg())
            }
            "internal_hash" => Ok(p.heap.unsigned(hash::internal_hash(value) >> 32)),
            "binary_info" if value.is_bitstring() => Ok(binary_info(p, value)),
            "have_pending_exit" if value.is_local_pid() => {
                let exiting = proctab::lookup(value.payload()).is_none_or(|q| q.state.load().is_exiting());
                Ok(Term::bool(exiting))
            }
            key => of_others(p, key, value),
        },
        None => Err(p.badarg()),
    }
}

fn of_others(p: &mut Process, key: &str, value: Term) -> NativeResult {
    OF_OTHERS.get().and_then(|state| state(p, key, value)).unwrap_or_else(|| Err(p.badarg()))
}

/// `heap_binary`, or `{refc_binary, Bytes, {binary, BytesOfTheBlock}, Flags}`. Flags: 1 if more can be appended in place.
fn binary_info(p: &mut Process, bits: Term) -> Term {
    let original = match bits.kind() {
        Some(Kind::SubBits) => bits.slot(2),
        Some(Kind::MatchCtx) => bits.slot(3),
        _ => bits,
    };
    if !original.is_kind(Kind::BinRef) {
        return Atom::new("heap_binary").into();
    }
    let end_bits = match bits.kind() {
        Some(Kind::SubBits) => bits.word(0) + bits.word(1),
        Some(Kind::MatchCtx) => bits.word(2),
        _ => bits.word(1),
    };
    let block = original.word(2) as *const RefBin;
    // Relaxed: a figure; a writer that appends settles the room with a compare-and-swap.
    // SAFETY: the binary owns a reference to its block.
    let (capacity, used) = unsafe { (RefBin::size_bytes(block), RefBin::used_bits(block).load(Ordering::Relaxed)) };
    let bytes = BitsView::of(bits).map_or(0, |view| view.len_bytes());
    let grows = used == end_bits && used < capacity as u64 * 8;
    let block = p.heap.tuple(&[Atom::new("binary").into(), Term::small(capacity as i64)]);
    p.heap.tuple(&[Atom::new("refc_binary").into(), Term::small(bytes as i64), block, Term::small(grows.into())])
}

fn set_internal_state(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(key) = a[0].as_atom() else { return Err(p.badarg()) };
    if key.name() == "available_internal_state" {
        let Some(on) = args::boolean(a[1]) else { return Err(p.badarg()) };
        let before = AVAILABLE.swap(on, Ordering::Relaxed);
        if on && !before {
            let text = format!(
                "Process {} enabled access to the emulator internal state.\nNOTE: This is an erts internal test feature and should \
                 *only* be used by OTP test-suites.\n",
                heddle_term::text::display::to_string(p.pid_term())
            );
            exit::log_message("warning", &text);
        }
        return Ok(Term::bool(before));
    }
    if !AVAILABLE.load(Ordering::Relaxed) {
        return Err(p.error(am::UNDEF));
    }
    match key.name() {
        "reds_left" => match args::count(a[1]) {
            Some(left) => {
                // This replaces what a collection just cost.
                p.extra_reductions = left.min(1 << 30) as u32;
                Err(Thrown::SetReductions)
            }
            None => Err(p.badarg()),
        },
        "heddle_task_probe" => Ok(Term::bool(probe::register())),
        // `sleep` holds this scheduler, as a driver or NIF that takes long would; `block` holds all.
        key @ ("block" | "sleep") => match args::count(a[1]) {
            Some(ms) => {
                let blocks = key == "block";
                if blocks {
                    stop_world::stop_others(LONGEST_STOP_MS);
                }
                std::thread::sleep(Duration::from_millis(ms as u64));
                if blocks {
                    stop_world::release_others();
                }
                Ok(Term::bool(true))
            }
            None => Err(p.badarg()),
        },
        key @ ("next_pid" | "next_port") => match args::count(a[1]) {
            Some(to) => Ok(p.heap.unsigned(tables::set_next_identity(key, to as u64).expect("one of them"))),
            None => Err(p.badarg()),
        },
        // Other nodes are only known by the terms that name them. There is no table that could keep them longer.
        "node_tab_delayed_delete" if a[1].is_integer() => Ok(am::OK.into()),
        // The last integer that was made, counted from the least one. Modulo 2^64, as in ERTS.
        "unique_monotonic_integer_state" => match big::to_u64(a[1]).or_else(|| big::to_i64(a[1]).map(|n| n as u64)) {
            Some(last) => {
                refs::set_next_monotonic(last.wrapping_add(1));
                Ok(Term::bool(true))
            }
            None => Ok(Term::bool(false)),
        },
        "process_uniq_counter" => match big::to_i64(a[1]) {
            Some(n) => {
                p.messages.marker_number(n as u64);
                Ok(am::OK.into())
            }
            None => Err(p.badarg()),
        },
        "make" if a[1].is_atom_of(Atom::new("magic_ref")) => {
            let reference = p.heap.magic_reference(refs::fresh().words(), Arc::new(Nothing));
            let (address, _) = magic(reference).expect("just made");
            let address = p.heap.unsigned(address);
            Ok(p.heap.tuple(&[reference, address]))
        }
        "multizero_timeout_in_timeout" => match args::count(a[1]) {
            Some(ms) => {
                timeouts_in_timeout(p.pid(), ms as u64);
                Ok(am::OK.into())
            }
            None => Err(p.badarg()),
        },
        // Stock makes what its scheduler refers to unreadable before it writes the dump, which must be whole all the same.
        "broken_halt" => super::halt::crash(&heddle_term::text::display::to_string(a[1])),
        // Only a debugging build of stock pauses everywhere on demand.
        "ets_force_trap" => Ok(am::NOTSUP.into()),
        "binary_loop_limit" => limit(p, &long::BINARIES, a[1]),
        // A binary outside the heap, however small.
        "binary" => match args::count(a[1]) {
            Some(size) => {
                let block = RefBin::from_bytes(&vec![0; size]);
                Ok(p.heap.bin_ref(block, size as u64 * 8))
            }
            None => Ok(Term::bool(false)),
        },
        "ets_force_split" => heddle_ets::pieces(a[1], |store| &store.force_split).ok_or_else(|| p.badarg()),
        "ets_debug_random_split_join" => heddle_ets::pieces(a[1], |store| &store.random_split_join).ok_or_else(|| p.badarg()),
        "unicode_loop_limit" => limit(p, &long::CHARACTERS, a[1]),
        "re_loop_limit" => limit(p, &long::MATCHING, a[1]),
        "wait" => wait(p, a[0], a[1]),
        "force_gc" if a[1].is_local_pid() => {
            let found = proctab::lookup(a[1].payload()).is_some();
            if a[1] == p.pid_term() {
                p.need_major = true;
                p.request_collection();
            } else {
                send::call_in(a[1].payload(), |other| {
                    if let Some(other) = other
                        && other.flags & FLAG_DETACHED == 0
                    {
                        if mode::is_held() {
                            // The other process does it after its earlier signals.
                            other.need_major = true;
                            other.request_collection();
                        } else {
                            gc::collect(other, &mut [], 0, CollectionKind::Major);
                        }
                    }
                });
            }
            Ok(Term::bool(found))
        }
        // Collections that other processes ask for. A process that needs memory collects in any case. Returns what was set before.
        "gc_state" => match args::boolean(a[1]) {
            Some(on) => Ok(Term::bool(!long_gc::hold_back(p, !on))),
            None => Err(p.badarg()),
        },
        // As `gc_state`, from `start` to the call with what that returned.
        "inconsistent_heap" => {
            let starts = a[1].is_atom_of(Atom::new("start"));
            long_gc::hold_back(p, starts);
            Ok(if starts { p.heap.tuple(&[]) } else { am::OK.into() })
        }
        "proc_sig_block" => match a[1].as_tuple() {
            // A port is held in the same way.
            Some(&[pid, ms]) if pid.is_local_pid() || pid.is_port() => {
                let Some(ms) = args::count(ms) else { return Err(p.badarg()) };
                send::call_in(heddle_runtime::process::identity::id_of(pid), move |_| std::thread::sleep(Duration::from_millis(ms as u64)));
                Ok(am::OK.into())
            }
            _ => Err(p.badarg()),
        },
        "test_long_gc_sleep" => match args::count(a[1]) {
            Some(ms) => {
                gc::LONG_SLEEP_MS.store(ms as u64, Ordering::Relaxed);
                Ok(Term::bool(true))
            }
            None => Err(p.badarg()),
        },
        // Stock makes senders to a process with `off_heap` messages not wait for each other from now on. Here they never wait: the queue
        // has no lock.
        "proc_sig_buffers" if a[1].is_atom_of(am::TRUE) => Ok(Term::bool(p.off_heap_messages)),
        "mbuf" => {
            let copy = p.heap.copy(a[1]);
            p.request_collection();
            Ok(copy)
        }
        _ => Err(p.badarg()),
    }
}

/// What a magic reference made for tests stands for.
struct Nothing;

impl Resource for Nothing {
    fn type_name(&self) -> &'static str {
        "nothing"
    }
}

/// Where the object of a magic reference is, and how many references there are.
fn magic(reference: Term) -> Option<(u64, usize)> {
    if !reference.is_kind(Kind::MagicRef) {
        return None;
    }
    // SAFETY: a magic reference's last word is a live ResourcePtr.
    let object = unsafe { share(reference.word(3) as ResourcePtr) };
    Some((Arc::as_ptr(&object).cast::<()>() as u64, Arc::strong_count(&object) - 1))
}

/// Bytes of native stack that the calling thread has left.
fn stack_left() -> u64 {
    let here = 0u8;
    // SAFETY: the attributes are initialised by the first call and given back by the last; the rest are valid destinations.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
            return 0;
        }
        let (mut lowest, mut size) = (std::ptr::null_mut(), 0);
        libc::pthread_attr_getstack(&attributes, &mut lowest, &mut size);
        libc::pthread_attr_destroy(&mut attributes);
        (&raw const here as u64).saturating_sub(lowest as u64)
    }
}

/// After `ms` a timer sets a second one of 0 ms, and that sets a third one, which sends the message.
fn timeouts_in_timeout(pid: u64, ms: u64) {
    sched::after(ms, move || {
        sched::after(0, move || {
            sched::after(0, move || {
                send::message_to_pid(pid, Package::immediate(Atom::new("multizero_timeout_in_timeout_done").into()));
            });
        });
    });
}

/// Sets how much a native does before it leaves its scheduler: a number, or `default`. Returns what it was.
fn limit(p: &mut Process, limit: &long::Limit, to: Term) -> NativeResult {
    let to = match args::count(to) {
        None if !to.is_atom_of(Atom::new("default")) => return Err(p.badarg()),
        to => to,
    };
    Ok(Term::small(limit.set(to) as i64))
}

/// `wait, What`: waits until all that was unlinked before is freed. The native is called again with the epoch of its first call.
fn wait(p: &mut Process, key: Term, what: Term) -> NativeResult {
    if what.is_atom_of(Atom::new("timer_cancellations")) {
        timer_refs::sweep();
    }
    let epoch = match (what.as_atom().map(|w| w.name()), args::count(what)) {
        (Some("deallocations" | "thread_progress" | "aux_work" | "timer_cancellations"), _) => qsbr::next(),
        (_, Some(epoch)) => epoch as u64,
        _ => return Err(p.badarg()),
    };
    let callbacks_are_due = nifs::CALLBACKS_ARE_DUE.get().is_some_and(|are_due| are_due());
    if qsbr::is_freed(epoch) && !heddle_ets::reap::is_busy() && !callbacks_are_due {
        return Ok(am::OK.into());
    }
    Err(p.again(&[key, Term::small(epoch as i64)]))
}
