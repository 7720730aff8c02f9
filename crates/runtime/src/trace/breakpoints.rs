//! Breakpoints of traced functions.
//!
//! A function that is traced locally has an operation of tracing in its first code cell. The operation that stood there is kept and run
//! after it (also one that the loader fused from several, as the cells after it are unchanged). A global call is traced on the way through
//! the export: its entry is a trampoline, cells with an operation of tracing that continues at the function. A cell is written with one
//! aligned store while other threads run it, and a thread runs the old or the new operation, whichever it read.

use crate::base::qsbr;
use crate::code::exports;
use crate::code::{self, Instance};
use crate::process::Process;
use crate::signal::package::Package;
use crate::trace::cells::{CELLS, FrameKind};
use crate::trace::emit::Event;
use crate::trace::frames::{self, session_term};
use crate::trace::meter::{Meter, MeterKind};
use crate::trace::request::{CallChange, Counting, PatternRequest};
use crate::trace::sessions::{self, Session};
use crate::trace::spec::{self, Spec};
use crate::trace::tracer::{Tracer, Wish};
use crate::trace::{emit, entries, flags, meters, tracees};
use heddle_term::code_cell::Mfa;
use heddle_term::{Atom, Export, Heap, Term};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

/// The settings of one session on a function.
#[derive(Clone)]
pub struct BreakpointSetting {
    pub session: Arc<Session>,
    pub call: Option<(bool, Option<Arc<Spec>>)>,
    /// The tracer, None if it is gone.
    pub meta: Option<(Option<Tracer>, Option<Arc<Spec>>)>,
    pub count: Option<Arc<Counter>>,
    pub time: Option<Arc<Meter>>,
    pub memory: Option<Arc<Meter>>,
}

#[derive(Default)]
pub struct Counter {
    pub calls: AtomicU64,
    pub paused: AtomicBool,
}

impl Counter {
    #[inline]
    fn count(&self) {
        if !self.paused.load(Ordering::Relaxed) {
            self.calls.fetch_add(1, Ordering::Relaxed);
        }
    }
    fn restart(&self) {
        self.calls.store(0, Ordering::Relaxed);
        self.paused.store(false, Ordering::Relaxed);
    }
}

impl BreakpointSetting {
    pub(crate) fn of(session: &Arc<Session>) -> BreakpointSetting {
        BreakpointSetting { session: session.clone(), call: None, meta: None, count: None, time: None, memory: None }
    }
    fn is_empty(&self) -> bool {
        self.call.is_none() && self.meta.is_none() && self.count.is_none() && self.time.is_none() && self.memory.is_none()
    }
    fn is_local(&self) -> bool {
        self.call.as_ref().is_some_and(|(local, _)| *local)
            || self.meta.is_some()
            || self.count.is_some()
            || self.time.is_some()
            || self.memory.is_some()
    }
    fn is_global(&self) -> bool {
        self.call.as_ref().is_some_and(|(local, _)| !*local)
    }
}

pub struct Breakpoint {
    pub mfa: Mfa,
    entry: usize,
    /// The operation that belongs into the first cell.
    pub original: u64,
    is_native: bool,
    /// True if calls go to the error handler's `breakpoint/3`, which is where the debugger waits (`erts_debug:breakpoint/2`). Release in
    /// `debug`, Acquire where the engine reads it.
    pub debugged: AtomicBool,
    /// A list that is replaced as a whole and never changed: calls read it without a lock. AcqRel in `update`, Acquire in `settings`: the
    /// list that is seen is complete.
    settings: AtomicPtr<Vec<BreakpointSetting>>,
}

impl Breakpoint {
    fn new(target: &Target) -> Breakpoint {
        Breakpoint {
            mfa: target.mfa,
            entry: target.entry,
            // Acquire: pairs with the Release in `install`.
            original: cell(target.entry).load(Ordering::Acquire),
            is_native: target.is_native,
            debugged: AtomicBool::new(false),
            settings: AtomicPtr::new(Box::into_raw(Box::default())),
        }
    }

    /// A breakpoint at a cell that is not of a function. It says that the cell's own address belongs there.
    #[cfg(test)]
    pub(super) fn of_nothing(entry: usize) -> Breakpoint {
        let mfa = Mfa { module: heddle_term::Atom::from_index(0), function: heddle_term::Atom::from_index(0), arity: 0 };
        let settings = AtomicPtr::new(Box::into_raw(Box::default()));
        Breakpoint { mfa, entry, original: entry as u64, is_native: false, debugged: AtomicBool::new(false), settings }
    }

    /// The settings of all sessions. Valid until the caller's slice ends.
    pub(crate) fn settings(&self) -> &[BreakpointSetting] {
        // SAFETY: a list that was replaced is only freed after the slices of its readers.
        unsafe { &*self.settings.load(Ordering::Acquire) }
    }

    /// Replaces the settings by changed ones. Only one writer at a time may call it.
    fn update(&self, change: impl FnOnce(&mut Vec<BreakpointSetting>)) {
        let mut new = self.settings().to_vec();
        change(&mut new);
        let old = self.settings.swap(Box::into_raw(Box::new(new)), Ordering::AcqRel);
        // SAFETY: unlinked above; readers are done when this runs.
        let old = unsafe { Box::from_raw(old) };
        qsbr::retire(move || drop(old));
    }

    /// The tracer of `meta` is gone: removes it from the settings.
    fn forget_tracer(&self, session: u64, tracer: &Tracer) {
        // A concurrent change will do it, or the next call finds it out again: a call does not wait.
        let Ok(_one) = CHANGES.try_lock() else { return };
        self.update(|all| {
            for setting in all.iter_mut().filter(|s| s.session.id == session) {
                if let Some((gone, _)) = &mut setting.meta
                    && gone.as_ref() == Some(tracer)
                {
                    *gone = None;
                }
            }
        });
    }
}

impl Drop for Breakpoint {
    fn drop(&mut self) {
        // SAFETY: no thread reads it any more.
        drop(unsafe { Box::from_raw(*self.settings.get_mut()) });
    }
}

/// True if some native has a breakpoint: then calls in place check if it is the native that they call. Release here; the calls read it
/// Relaxed, and `entries::find` orders what they need.
pub static NATIVES_TRACED: AtomicBool = AtomicBool::new(false);
/// Number of functions with a breakpoint. Where compiled code would pass the entry of a function, it looks if this is 0 (Relaxed: a call that is
/// under way when the breakpoint is set may still go on without it).
pub static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Number of natives with a breakpoint.
static NATIVES: AtomicUsize = AtomicUsize::new(0);
/// Trampolines by address of the export. They are never freed, as a process may have read one.
static TRAMPOLINES: LazyLock<Mutex<HashMap<usize, &'static [AtomicU64; 6]>>> = LazyLock::new(Default::default);
/// Taken for each change, so only one is made at a time.
static CHANGES: Mutex<()> = Mutex::new(());

/// A function that may be traced.
#[derive(Clone, Copy)]
pub struct Target {
    pub mfa: Mfa,
    entry: usize,
    is_native: bool,
}

/// All functions that a pattern names; None stands for any. Only exported ones if `global`.
pub fn targets(module: Option<Atom>, function: Option<Atom>, arity: Option<u8>, global: bool) -> Vec<Target> {
    let mut found = Vec::new();
    let wanted = |f: Atom, a: u8| function.is_none_or(|w| w == f) && arity.is_none_or(|w| w == a);
    let instances: Vec<Arc<Instance>> = match module {
        Some(name) => code::current(name).into_iter().collect(),
        None => code::with_all(|all| all.values().filter_map(|m| m.current.clone()).collect()),
    };
    for instance in &instances {
        let exported = |f: &code::Function| instance.exports.iter().any(|(_, at)| *at == f.entry);
        for f in &instance.functions {
            if !wanted(f.name, f.arity) || (global && !exported(f)) {
                continue;
            }
            let mfa = Mfa { module: instance.name, function: f.name, arity: f.arity };
            // What a native implements is reached through the native's own code.
            if exports::find(mfa).is_some_and(|e| e.native.load(Ordering::Acquire) != 0) {
                continue;
            }
            found.push(Target { mfa, entry: instance.code.as_ptr().wrapping_add(f.entry as usize) as usize, is_native: false });
        }
    }
    exports::for_each(|export| {
        if module.is_none_or(|m| m == export.mfa.module)
            && wanted(export.mfa.function, export.mfa.arity)
            && export.native.load(Ordering::Acquire) != 0
            && let Some(entry) = native_entry(export)
        {
            found.push(Target { mfa: export.mfa, entry, is_native: true });
        }
    });
    found
}

/// First cell of a native's own code.
fn native_entry(export: &Export) -> Option<usize> {
    Some(export.entry.load(Ordering::Acquire) as usize)
}

/// The function of this name, for `trace_info`.
pub fn find(mfa: Mfa) -> Option<Target> {
    targets(Some(mfa.module), Some(mfa.function), Some(mfa.arity), false).pop()
}

pub fn setting(target: &Target, session: u64) -> Option<BreakpointSetting> {
    let _guard = qsbr::guard();
    entries::find(target.entry)?.settings().iter().find(|s| s.session.id == session).cloned()
}

/// Returns the targets that the session has set something on.
pub fn traced_in(targets: &[Target], session: u64) -> Vec<Target> {
    targets.iter().filter(|t| setting(t, session).is_some()).copied().collect()
}

/// The sessions that have set anything on it.
pub fn sessions_of(target: &Target) -> Vec<Arc<Session>> {
    let _guard = qsbr::guard();
    entries::find(target.entry).map_or(Vec::new(), |b| b.settings().iter().map(|s| s.session.clone()).collect())
}

/// The first cell of a function as others may be running it.
fn cell<'a>(entry: usize) -> &'a AtomicU64 {
    // SAFETY: entries are cells of loaded code, which the table keeps until `forget_code`.
    unsafe { &*(entry as *const AtomicU64) }
}

/// Applies `request` to all of `targets`.
pub fn change(session: &Arc<Session>, targets: &[Target], request: &PatternRequest) {
    let _one = CHANGES.lock().unwrap();
    let _ = sessions::FORGET_BREAKPOINTS.set(forget_session);
    let _guard = qsbr::guard();
    for target in targets {
        let breakpoint = known_or_new(target);
        breakpoint.update(|settings| {
            let at = match settings.iter().position(|s| s.session.id == session.id) {
                Some(at) => at,
                None => {
                    settings.push(BreakpointSetting::of(session));
                    settings.len() - 1
                }
            };
            let setting = &mut settings[at];
            match &request.call {
                None => {}
                Some(CallChange::Local(spec)) => setting.call = Some((true, spec.clone())),
                Some(CallChange::Global(spec)) => {
                    *setting = BreakpointSetting { call: Some((false, spec.clone())), ..BreakpointSetting::of(session) };
                }
                Some(CallChange::NotLocal) => setting.call = setting.call.take().filter(|(local, _)| !local),
                Some(CallChange::NotGlobal) => setting.call = setting.call.take().filter(|(local, _)| *local),
            }
            let starts = |c: Option<Counting>| c == Some(Counting::Start);
            if request.call.is_none()
                && (matches!(request.meta, Some(Some(_))) || starts(request.count) || starts(request.time) || starts(request.memory))
            {
                // Any tracing of the function itself ends the tracing of global calls.
                setting.call = setting.call.take().filter(|(local, _)| *local);
            }
            if let Some(meta) = &request.meta {
                setting.meta = meta.clone().map(|(tracer, spec)| (Some(tracer), spec));
            }
            match request.count {
                None => {}
                Some(Counting::Off) => setting.count = None,
                Some(Counting::Start) => match &setting.count {
                    // An existing counter starts again at 0.
                    Some(counter) => counter.restart(),
                    None => setting.count = Some(Arc::default()),
                },
                Some(Counting::Pause) => {
                    if let Some(counter) = &setting.count {
                        counter.paused.store(true, Ordering::Relaxed);
                    }
                }
                Some(Counting::Restart) => {
                    if let Some(counter) = &setting.count {
                        counter.restart();
                    }
                }
            }
            meter(&mut setting.time, request.time);
            meter(&mut setting.memory, request.memory);
            settings.retain(|s| !s.is_empty());
        });
        install(breakpoint);
    }
}

/// The breakpoint of a function, made if there is none. Only one writer at a time may call it.
fn known_or_new<'a>(target: &Target) -> &'a Breakpoint {
    if let Some(known) = entries::find(target.entry) {
        return known;
    }
    entries::insert(target.entry, Box::new(Breakpoint::new(target)));
    COUNT.fetch_add(1, Ordering::Relaxed);
    if target.is_native {
        NATIVES.fetch_add(1, Ordering::Relaxed);
        NATIVES_TRACED.store(true, Ordering::Release);
    }
    entries::find(target.entry).expect("just put there")
}

/// Sends calls of the functions to the error handler, or lets them run again. Returns the number of functions. Natives stay as they are.
pub fn debug(targets: &[Target], on: bool) -> usize {
    let _one = CHANGES.lock().unwrap();
    let _guard = qsbr::guard();
    let targets = targets.iter().filter(|t| !t.is_native);
    let mut count = 0;
    for target in targets {
        count += 1;
        if on || entries::find(target.entry).is_some() {
            let breakpoint = known_or_new(target);
            breakpoint.debugged.store(on, Ordering::Release);
            install(breakpoint);
        }
    }
    count
}

fn meter(meter: &mut Option<Arc<Meter>>, change: Option<Counting>) {
    match (change, meter.as_ref()) {
        (Some(Counting::Off), _) => *meter = None,
        (Some(Counting::Start), None) => *meter = Some(Arc::default()),
        (Some(Counting::Pause), Some(m)) => m.paused.store(true, Ordering::Relaxed),
        (Some(Counting::Start | Counting::Restart), Some(m)) => {
            m.rows.lock().unwrap().clear();
            m.paused.store(false, Ordering::Relaxed);
        }
        _ => {}
    }
}

/// Makes the code agree with the settings. Without any, the breakpoint is removed.
fn install(breakpoint: &Breakpoint) {
    let cells = CELLS.get().expect("engine started");
    let settings = breakpoint.settings();
    let debugged = breakpoint.debugged.load(Ordering::Acquire);
    let (local, global) = (debugged || settings.iter().any(BreakpointSetting::is_local), settings.iter().any(BreakpointSetting::is_global));
    // A native has only one entry, so its own code reports both kinds of calls.
    let patched = local || (global && breakpoint.is_native);
    // Release: a thread that sees the operation finds the breakpoint.
    cell(breakpoint.entry).store(if patched { cells.breakpoint } else { breakpoint.original }, Ordering::Release);
    if !breakpoint.is_native {
        redirect(breakpoint, global, cells.trampoline);
    }
    if !local && !global {
        entries::remove(breakpoint.entry);
        COUNT.fetch_sub(1, Ordering::Relaxed);
        if breakpoint.is_native {
            let left = NATIVES.fetch_sub(1, Ordering::Relaxed) - 1;
            NATIVES_TRACED.store(left != 0, Ordering::Release);
        }
    }
}

/// Points the export to its trampoline or to the function.
fn redirect(breakpoint: &Breakpoint, global: bool, operation: u64) {
    let Some(export) = exports::find(breakpoint.mfa) else { return };
    let known = TRAMPOLINES.lock().unwrap().get(&(export as *const Export as usize)).copied();
    let entry = export.entry.load(Ordering::Acquire) as usize;
    let is_ours = known.is_some_and(|t| t[4].as_ptr() as usize == entry);
    if global && (entry == breakpoint.entry || is_ours) {
        let trampoline = known.unwrap_or_else(|| {
            let mfa = breakpoint.mfa;
            let cells =
                [0, Term::atom(mfa.module).raw(), Term::atom(mfa.function).raw(), mfa.arity as u64, operation, 0].map(AtomicU64::new);
            let cells: &'static [AtomicU64; 6] = Box::leak(Box::new(cells));
            TRAMPOLINES.lock().unwrap().insert(export as *const Export as usize, cells);
            cells
        });
        // Release: pairs with the Acquire of the trampoline's operation; the function's cells are seen.
        trampoline[5].store(breakpoint.entry as u64, Ordering::Release);
        export.entry.store(trampoline[4].as_ptr(), Ordering::Release);
    } else if !global && is_ours {
        export.entry.store(breakpoint.entry as *mut u64, Ordering::Release);
    }
}

fn forget_session(session: u64) {
    let _one = CHANGES.lock().unwrap();
    let _guard = qsbr::guard();
    for breakpoint in entries::all().into_iter().filter_map(entries::find) {
        if breakpoint.settings().iter().any(|s| s.session.id == session) {
            breakpoint.update(|all| all.retain(|s| s.session.id != session));
            install(breakpoint);
        }
    }
}

/// Puts another operation in the first cell of a function, if that holds `from`. Takes no lock: a tracer that is gone is forgotten only by a call
/// that gets the lock of the breakpoints at once. A breakpoint that is being set keeps the operation that it found.
pub fn replace(entry: usize, from: u64, to: u64) -> bool {
    // Release: a thread that sees the operation sees what belongs to it.
    cell(entry).compare_exchange(from, to, Ordering::Release, Ordering::Relaxed).is_ok()
}

/// Runs `f` if the function with this entry has no breakpoint, and none is set meanwhile. The caller is online.
pub fn while_free<R>(entry: usize, f: impl FnOnce() -> R) -> Option<R> {
    let _one = CHANGES.lock().unwrap();
    entries::find(entry).is_none().then(f)
}

/// The code is no longer the module's current version: its functions are not traced any more.
pub fn forget_code(instance: &Instance) {
    let _one = CHANGES.lock().unwrap();
    let _guard = qsbr::guard();
    for breakpoint in entries::all().into_iter().filter(|&e| instance.contains(e as *const u64)).filter_map(entries::find) {
        breakpoint.update(Vec::clear);
        breakpoint.debugged.store(false, Ordering::Release);
        install(breakpoint);
    }
}

/// New code became current: applies the requests that sessions have for code to be loaded.
pub fn code_loaded(instance: &Instance) {
    if !sessions::ANY_NEW.load(Ordering::Acquire) {
        return;
    }
    for session in sessions::all() {
        let Some(request) = session.settings.lock().unwrap().on_load.clone() else { continue };
        let global = matches!(request.call, Some(CallChange::Global(_)));
        change(&session, &targets(Some(instance.name), None, None, global), &request);
    }
}

/// The breakpoint at a function's entry; valid until the caller's slice ends.
#[inline]
pub fn at<'a>(entry: *const u64) -> Option<&'a Breakpoint> {
    entries::find(entry as usize)
}

/// True if its calls may have to be reported to a tracer.
pub fn tells(breakpoint: &Breakpoint) -> bool {
    breakpoint.settings().iter().any(|s| s.call.is_some() || s.meta.is_some())
}

/// Counts a call of `p` that is not reported to any tracer. Returns false if there is more to do.
#[inline]
pub fn only_counted(p: &Process, breakpoint: &Breakpoint, through_export: bool) -> bool {
    // Relaxed: see `events::on`.
    let calls_traced = p.shared().trace.load(Ordering::Relaxed) & flags::CALL != 0;
    let settings = breakpoint.settings();
    if calls_traced || settings.iter().any(|s| s.meta.is_some()) {
        return false;
    }
    if !through_export {
        settings.iter().filter_map(|s| s.count.as_deref()).for_each(Counter::count);
    }
    true
}

/// A frame to push: kind, session, tracer (see `frames`); None: the tracer of the process.
pub type Push = (FrameKind, Term, Option<Tracer>);

/// `p` calls the function with these arguments. Reports the call to all its tracers. Returns the frames to push on the stack, the first one
/// first.
pub fn called(p: &mut Process, breakpoint: &Breakpoint, through_export: bool, arguments: &[Term]) -> Vec<Push> {
    let mut pushes = Vec::new();
    for s in breakpoint.settings() {
        // In the order of stock's reports for one function: its call, then `meta`, then counters.
        if !p.sensitive {
            if let Some((local, program)) = &s.call
                && (*local != through_export || breakpoint.is_native)
            {
                call(p, breakpoint, s, *local, program.as_ref(), arguments, &mut pushes);
            }
            if !through_export && let Some((Some(tracer), program)) = &s.meta {
                meta(p, breakpoint, s, tracer, program.as_ref(), arguments, &mut pushes);
            }
        }
        if !through_export && let Some(counter) = &s.count {
            counter.count();
        }
        if !p.sensitive && !through_export && (s.time.is_some() || s.memory.is_some()) {
            metered(p, breakpoint, s, &mut pushes);
        }
    }
    pushes
}

fn metered(p: &mut Process, breakpoint: &Breakpoint, s: &BreakpointSetting, pushes: &mut Vec<Push>) {
    // Relaxed: see `events::on`.
    if p.shared().trace.load(Ordering::Relaxed) & flags::CALL == 0 {
        return;
    }
    let Some(t) = tracees::in_session(p.pid(), s.session.id).filter(|t| t.flags & flags::CALL != 0) else { return };
    if !emit::is_traced(p.pid(), &t) {
        return;
    }
    let session = session_term(s.session.id);
    for (meter, what, kind) in [(&s.time, MeterKind::Time, FrameKind::Time), (&s.memory, MeterKind::Memory, FrameKind::Memory)] {
        if let Some(meter) = meter {
            let again = frames::on_top(p, kind, session);
            meters::called(p, s.session.id, what, meter, breakpoint.mfa, again);
            if !again {
                pushes.push((kind, session, None));
            }
        }
    }
}

fn call(
    p: &mut Process,
    breakpoint: &Breakpoint,
    s: &BreakpointSetting,
    local: bool,
    program: Option<&Arc<Spec>>,
    arguments: &[Term],
    pushes: &mut Vec<Push>,
) {
    // Relaxed: see `events::on`.
    if p.shared().trace.load(Ordering::Relaxed) & flags::CALL == 0 {
        return;
    }
    let Some(t) = tracees::in_session(p.pid(), s.session.id) else { return };
    if t.flags & flags::CALL == 0 || !emit::is_traced(p.pid(), &t) || !emit::check(p.pid(), &t, flags::CALL, Atom::new("call")) {
        return;
    }
    let verdict = spec::run(p, program, &s.session, arguments);
    if !verdict.matched {
        return;
    }
    let session = session_term(s.session.id);
    // The specification's actions may have changed the flags.
    let now = tracees::flags_in(p.pid(), s.session.id).unwrap_or(0);
    if now & flags::SILENT == 0 && verdict.tell {
        // A call whose specification switches tracing off is still reported.
        tell(p, &t.tracer, if now & flags::CALL == 0 { t.flags } else { now }, breakpoint, arguments, verdict.message.as_ref());
    }
    if local && now & flags::RETURN_TO != 0 && !frames::on_top(p, FrameKind::ReturnTo, session) {
        pushes.push((FrameKind::ReturnTo, session, None));
    }
    if verdict.exception_trace || verdict.return_trace {
        let kind = if verdict.exception_trace { FrameKind::ReturnedOrRaised } else { FrameKind::Returned };
        pushes.push((kind, session, None));
    }
}

fn meta(
    p: &mut Process,
    breakpoint: &Breakpoint,
    s: &BreakpointSetting,
    tracer: &Tracer,
    program: Option<&Arc<Spec>>,
    arguments: &[Term],
    pushes: &mut Vec<Push>,
) {
    let me = p.pid_term();
    if tracer.is(me) {
        return;
    }
    if !tracer.is_there(me) {
        breakpoint.forget_tracer(s.session.id, tracer);
        return;
    }
    if tracer.wish(me, flags::CALL, Atom::new("call")) != Wish::Trace {
        return;
    }
    let verdict = spec::run(p, program, &s.session, arguments);
    if !verdict.matched {
        return;
    }
    if verdict.tell {
        tell(p, tracer, flags::TIMESTAMP, breakpoint, arguments, verdict.message.as_ref());
    }
    if verdict.exception_trace || verdict.return_trace {
        let kind = if verdict.exception_trace { FrameKind::ReturnedOrRaised } else { FrameKind::Returned };
        pushes.push((kind, session_term(s.session.id), Some(tracer.clone())));
    }
}

fn tell(p: &Process, tracer: &Tracer, how: u32, breakpoint: &Breakpoint, arguments: &[Term], verdict: Option<&Package>) {
    let mut heap = Heap::new();
    let mfa = breakpoint.mfa;
    let last = if how & flags::ARITY != 0 { Term::small(mfa.arity as i64) } else { heap.list(arguments) };
    let call = heap.tuple(&[mfa.module.into(), mfa.function.into(), last]);
    emit::message(tracer, how, &Event::new(p.pid_term(), flags::CALL, &[Atom::new("call").into(), call]).with(verdict));
    heap.clear();
}
