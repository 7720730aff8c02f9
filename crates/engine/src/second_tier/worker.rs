//! The thread that compiles functions in the background.

use super::figures::{COUNTS, process_time, thread_time};
use super::perf;
use super::reads::Reads;
use super::residents::{Installed, Residents};
use super::{Kept, LIMIT_REACHED, OPERATIONS, complain, counted};
use heddle_abi::settings::SETTINGS;
use heddle_beamfile::BeamFile;
use heddle_jit::{Compiled, Compiler, Host};
use heddle_runtime::code::{self, Instance};
use heddle_runtime::qsbr;
use heddle_runtime::trace::breakpoints;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

/// Entries of functions that were called often.
static REQUESTS: Mutex<VecDeque<usize>> = Mutex::new(VecDeque::new());
static ARRIVED: Condvar = Condvar::new();
static STARTED: Once = Once::new();

/// A recursion over the instructions of a function may be deep.
const STACK_BYTES: usize = 16 << 20;

fn requests() -> MutexGuard<'static, VecDeque<usize>> {
    REQUESTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has the function with this entry compiled.
pub fn request(entry: *const u64) {
    requests().push_back(entry as usize);
    ARRIVED.notify_one();
}

/// Starts the thread, if it does not run yet: with the first module, so that there are as many threads at all times.
pub fn start() {
    STARTED.call_once(|| {
        let thread = std::thread::Builder::new().name("jit".into()).stack_size(STACK_BYTES).spawn(run);
        if let Err(error) = thread {
            heddle_runtime::exit::log_message("warning", &format!("Nothing is compiled: the thread for it does not start: {error}"));
        }
    });
}

/// The thread gives back its memory when there was nothing to compile for this long (guessed).
const REST: Duration = Duration::from_millis(500);

/// The thread may take this part of the CPU time of the VM, after what it may take at first: when it has had more, calls of functions that ask to be compiled are counted
/// again. So functions that are called most come first, and a short run is not slower for what would only pay in a long one.
const SHARE: u32 = 20;
const AT_FIRST: Duration = Duration::from_millis(40);
/// With smaller numbers of calls all functions are compiled that ask for it: for tests.
const FIRST_LIMITED: u64 = 1000;

fn is_over_limit(calls: u64) -> bool {
    calls >= FIRST_LIMITED && thread_time().saturating_sub(AT_FIRST) * SHARE > process_time()
}

fn run() {
    let Some(host) = super::host() else { return };
    // The thread only runs if functions are compiled after this number of calls. (`mode` says what becomes of modules that are loaded now.)
    let calls = SETTINGS.jit.get() as u64;
    let mut compiler = Compiler::new(host);
    let mut reads = Reads::default();
    let mut residents = Residents::default();
    // It gave back the memory that it needs for compiling.
    let mut is_resting = false;
    loop {
        let next = {
            let mut requests = requests();
            loop {
                // One of a module that was read, if there is one.
                let known = requests.iter().position(|&entry| reads.has(entry));
                match requests.remove(known.unwrap_or(0)) {
                    Some(next) => break next,
                    None => {
                        if is_resting {
                            requests = ARRIVED.wait(requests).unwrap_or_else(PoisonError::into_inner);
                            is_resting = false;
                            continue;
                        }
                        let (again, time) = ARRIVED.wait_timeout(requests, REST).unwrap_or_else(PoisonError::into_inner);
                        requests = again;
                        if time.timed_out() && requests.is_empty() {
                            is_resting = true;
                            drop(requests);
                            // No memory is kept while there is nothing to do.
                            compiler = Compiler::new(host);
                            reads.clear();
                            heddle_memory::leave_and_purge();
                            requests = self::requests();
                        }
                    }
                }
            }
        };
        let Some(location) = code::locate(next as *const u64) else { continue };
        let instance = location.instance;
        let Some(index) = instance.functions.iter().position(|function| function.entry == location.offset) else {
            forget_instance(instance);
            continue;
        };
        let kept = instance.machine_code.as_deref().and_then(Kept::of);
        let stored = kept.and_then(|kept| kept.stored.as_ref()?.code(index));
        if stored.is_none() && is_over_limit(calls) {
            count_on(&instance, location.offset, 2 * calls);
            forget_instance(instance);
            continue;
        }
        let before = thread_time();
        let code = match &stored {
            Some(bytes) => Some(Code::Stored(bytes)),
            None => reads.of(&instance).map(Code::File),
        };
        if let Some(code) = code {
            let mut compile = || {
                if heddle_jit::is_full() {
                    return Outcome::NoRoom;
                }
                compile(&mut compiler, host, &instance, code, index, calls)
            };
            let mut outcome = compile();
            if outcome == Outcome::NoRoom && residents.make_room(calls) {
                outcome = compile();
            }
            COUNTS.add(&std::mem::take(&mut compiler.counts), thread_time() - before);
            match outcome {
                Outcome::Installed => residents.add(&instance, location.offset),
                Outcome::NoRoom => {
                    if residents.is_empty() {
                        complain(&LIMIT_REACHED);
                    }
                    count_on(&instance, location.offset, calls);
                }
                Outcome::Nothing => {}
            }
        }
        // No longer than this: what a module has goes when it is purged, as the program expects.
        forget_instance(instance);
    }
}

/// The last to know an instance gives its memory back, which other threads may still read.
pub fn forget_instance(instance: Arc<Instance>) {
    let _guard = qsbr::guard();
    qsbr::retire(move || drop(instance));
}

/// A cell that other threads run.
pub fn cell(instance: &Instance, offset: u32) -> &AtomicU64 {
    // SAFETY: the cell lies in the code of the instance, and all that write it while it runs write it as one word.
    unsafe { &*(&raw const instance.code[offset as usize]).cast() }
}

/// What came of compiling a function.
#[derive(PartialEq, Eq)]
enum Outcome {
    /// It has machine code now.
    Installed,
    /// There is no room for its machine code.
    NoRoom,
    /// There is nothing to do.
    Nothing,
}

/// What a function is made of.
#[derive(Clone, Copy)]
enum Code<'a> {
    File(&'a BeamFile),
    /// Machine code that was made before.
    Stored(&'a [u8]),
}

/// Compiles the function with this index, and puts its code in place.
fn compile(compiler: &mut Compiler, host: Host, instance: &Instance, code: Code<'_>, index: usize, calls: u64) -> Outcome {
    let Some(kept) = instance.machine_code.as_deref().and_then(Kept::of) else { return Outcome::Nothing };
    let Some(tables) = &kept.tables else { return Outcome::Nothing };
    let entry = instance.functions[index].entry;
    let base = instance.code.as_ptr() as usize;
    let entry_address = base + entry as usize * 8;
    let Some(count_call) = OPERATIONS.get().map(|operations| operations.count_call) else { return Outcome::Nothing };
    // Puts the machine code into the entry. If that is traced, calls are counted on, so it is tried again.
    let enter_at = |address: usize| {
        if !breakpoints::replace(entry_address, count_call, address as u64) {
            count_on(instance, entry, calls);
        }
    };
    let known = kept.functions().get(&entry).map(|installed| installed.address);
    if let Some(address) = known {
        enter_at(address);
        return Outcome::Nothing;
    }
    // The operation of the entry stands where calls are counted.
    let first = counted::original(entry);
    let operation = |at: u32| cell(instance, if at == entry { first } else { at }).load(Ordering::Relaxed);
    let compiled = match code {
        Code::Stored(bytes) => heddle_jit::restore(bytes, &tables.addresses(host, base, &operation)),
        Code::File(beam) => match compiler.add(&tables.source(beam, base, &operation).borrow(), index) {
            true => compiler.link(),
            false => Ok(None),
        },
    };
    if matches!((code, &compiled), (Code::Stored(_), Ok(Some(_)))) {
        COUNTS.stored.fetch_add(1, Ordering::Relaxed);
    }
    match compiled {
        Ok(Some(Compiled { memory, places })) => {
            perf::tell(instance, &places);
            let Some(address) = places.iter().find(|place| place.cell == entry).map(|place| place.address) else { return Outcome::Nothing };
            let roots: Vec<(u32, u64)> =
                places.iter().filter(|place| place.cell != entry).map(|place| (place.cell, operation(place.cell))).collect();
            kept.functions().insert(entry, Installed { memory, address, first: operation(entry), roots });
            for place in places.iter().filter(|place| place.cell != entry) {
                // Release: a thread that sees the address sees the code.
                cell(instance, place.cell).store(place.address as u64, Ordering::Release);
            }
            // Release: a thread that counts, and sees the address, sees the code and goes on there.
            cell(instance, first).store(address as u64, Ordering::Release);
            enter_at(address);
            Outcome::Installed
        }
        Ok(None) => {
            // It is not counted any more.
            let original = cell(instance, first).load(Ordering::Relaxed);
            breakpoints::replace(entry_address, count_call, original);
            Outcome::Nothing
        }
        Err(error) if error.is_limit => Outcome::NoRoom,
        Err(error) => {
            complain(&error);
            Outcome::Nothing
        }
    }
}

/// The function is asked for again after this number of calls.
fn count_on(instance: &Instance, entry: u32, calls: u64) {
    cell(instance, counted::counter(entry)).store(calls, Ordering::Relaxed);
}
