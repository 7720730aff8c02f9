//! Natives that load, publish and remove code.
//!
//! Order of publication: code and its range first, then the module table, then the exports one by one (a Release store each).
//! A running process sees old or new code at each call, never a mixture inside one.

use crate::loader;
use heddle_runtime::code::{self, Instance, Module, nifs};
use heddle_runtime::locks::LockClass;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::trace::breakpoints;
use heddle_runtime::{exports, funs, qsbr};
use heddle_term::code_cell::Mfa;
use heddle_term::{Atom, Export, Resource, Term, am};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

heddle_runtime::natives! { TABLE:
    "erts_internal" => {
        "prepare_loading"/2 => prepare_loading,
        "purge_module"/2 => purge_module,
        "check_process_code"/1 => check_process_code,
        "beamfile_module_md5"/1 => beamfile_module_md5,
        "beamfile_chunk"/2 => beamfile_chunk,
    }
    "erlang" => {
        "finish_loading"/1 => finish_loading,
        "has_prepared_code_on_load"/1 => has_prepared_code_on_load,
        "finish_after_on_load"/2 => finish_after_on_load,
        "delete_module"/1 => delete_module,
        "module_loaded"/1 => module_loaded,
        "loaded"/0 => loaded,
        "pre_loaded"/0 => pre_loaded,
        "check_old_code"/1 => check_old_code,
        "get_module_info"/1 => get_module_info_1,
        "get_module_info"/2 => get_module_info_2,
        "function_exported"/3 => function_exported,
        "is_builtin"/3 => is_builtin,
        "load_nif"/2 => load_nif_applied,
        "raise"/3 => crate::ops::control::raise_native,
    }
}

/// Prepared code between `prepare_loading` and `finish_loading`.
struct Prepared(Mutex<Option<Instance>>);

impl Resource for Prepared {
    fn type_name(&self) -> &'static str {
        "prepared code"
    }
}

/// The resource of type T that a magic reference refers to.
fn resource<T: Resource>(term: Term) -> Option<Arc<T>> {
    if !term.is_kind(heddle_term::Kind::MagicRef) {
        return None;
    }
    // SAFETY: a MagicRef's last word is a live ResourcePtr.
    let shared = unsafe { heddle_term::resource::share(term.word(3) as heddle_term::resource::ResourcePtr) };
    let any: Arc<dyn std::any::Any + Send + Sync> = shared;
    any.downcast::<T>().ok()
}

fn prepare_loading(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(module), Some(bits)) = (a[0].as_atom(), heddle_term::bits::BitsView::of(a[1])) else { return Err(p.badarg()) };
    if !bits.is_binary() {
        return Err(p.badarg());
    }
    let bytes = bits.to_vec();
    p.bump(bytes.len() / 400);
    match loader::prepare(&bytes) {
        Ok(instance) if instance.name == module => {
            let resource = Arc::new(Prepared(Mutex::new(Some(instance))));
            Ok(p.heap.magic_reference(heddle_runtime::refs::fresh().words(), resource))
        }
        Ok(instance) => {
            log_error(&format!("Loading of module {} failed: the file holds module {}", module.name(), instance.name.name()));
            Ok(p.heap.tuple(&[am::ERROR.into(), Atom::new("badfile").into()]))
        }
        Err(error) => {
            log_error(&format!("Loading of {} failed: {error}", module.name()));
            Ok(p.heap.tuple(&[am::ERROR.into(), Atom::new("badfile").into()]))
        }
    }
}

fn log_error(text: &str) {
    heddle_runtime::exit::log_message("error", text);
}

/// Loads the file's bytes in one step, for modules that exist before any process runs.
pub fn preload(bytes: &[u8]) -> Result<Atom, loader::LoadError> {
    let mut instance = loader::prepare(bytes)?;
    let name = instance.name;
    // As in stock, traces through preloaded modules show no lines.
    instance.lines = Vec::new();
    PRELOADED.lock().unwrap().push(name);
    publish(instance);
    Ok(name)
}

static PRELOADED: Mutex<Vec<Atom>> = Mutex::new(Vec::new());

/// Makes the version current; the one before becomes old.
pub(crate) fn publish(instance: Instance) {
    let instance = Arc::new(instance);
    code::add_range(&instance);
    let has_on_load = instance.has_on_load;
    code::with_module(instance.name, |m| {
        m.was_loaded = true;
        if has_on_load {
            funs::begin_on_load(&instance);
            // As when it is replaced at once: also if on_load fails, the version before is traced no longer.
            m.current.iter().for_each(|current| breakpoints::forget_code(current));
            m.pending = Some(instance.clone());
        } else {
            make_current(m, instance.clone());
        }
    });
    if !has_on_load {
        breakpoints::code_loaded(&instance);
    }
}

fn make_current(m: &mut Module, instance: Arc<Instance>) {
    let before = m.current.replace(instance.clone());
    for &(export, offset) in &instance.exports {
        let entry = instance.code.as_ptr().wrapping_add(offset as usize) as *mut u64;
        export.loaded.store(entry, Ordering::Release);
        // Calls of a native continue to reach the native's own code.
        if export.native.load(Ordering::Acquire) == 0 {
            export.entry.store(entry, Ordering::Release);
        }
    }
    for &(entry, offset) in &instance.funs {
        entry.entry.store(instance.code.as_ptr().wrapping_add(offset as usize) as *mut u64, Ordering::Release);
    }
    if let Some(before) = before {
        breakpoints::forget_code(&before);
        for &(export, _) in &before.exports {
            if !instance.exports.iter().any(|(e, _)| std::ptr::eq(*e, export)) {
                exports::unload(export);
            }
        }
        m.old = Some(before);
    }
}

fn list_of(p: &Process, list: Term) -> Option<Vec<Term>> {
    let _ = p;
    let mut out = Vec::new();
    let mut t = list;
    while t.is_cons() {
        out.push(t.head());
        t = t.tail();
    }
    t.is_nil().then_some(out)
}

/// Held by a native while it makes code current or old: what it finds out about a module still holds when it changes the module.
static CHANGES: Mutex<()> = Mutex::new(());

fn finish_loading(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(list) = list_of(p, a[0]) else { return Err(p.badarg()) };
    let mut prepared = Vec::new();
    for term in &list {
        let Some(r) = resource::<Prepared>(*term) else { return Err(p.badarg()) };
        prepared.push(r);
    }
    let _change = LockClass::CodeChange.lock(&CHANGES);
    let mut names = Vec::new();
    let mut on_load = Vec::new();
    for r in &prepared {
        match &*r.0.lock().unwrap() {
            Some(instance) => {
                names.push(instance.name);
                if instance.has_on_load {
                    on_load.push(instance.name);
                }
            }
            None => return Err(p.badarg()),
        }
    }
    let mut sorted = names.clone();
    sorted.sort();
    let duplicated: Vec<Atom> = sorted.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0]).collect();
    if !duplicated.is_empty() {
        return Ok(tagged_list(p, "duplicated", &duplicated));
    }
    let not_purged: Vec<Atom> =
        names.iter().copied().filter(|&n| code::with_module(n, |m| m.old.is_some() && m.current.is_some())).collect();
    if !not_purged.is_empty() {
        return Ok(tagged_list(p, "not_purged", &not_purged));
    }
    if on_load.len() > 1 || (!on_load.is_empty() && names.len() > 1) {
        return Err(p.system_limit());
    }
    for r in prepared {
        if let Some(instance) = r.0.lock().unwrap().take() {
            publish(instance);
        }
    }
    if on_load.is_empty() { Ok(am::OK.into()) } else { Ok(tagged_list(p, "on_load", &on_load)) }
}

fn tagged_list(p: &mut Process, tag: &str, names: &[Atom]) -> Term {
    let names: Vec<Term> = names.iter().map(|&n| n.into()).collect();
    let list = p.heap.list(&names);
    p.heap.tuple(&[Atom::new(tag).into(), list])
}

fn has_prepared_code_on_load(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(r) = resource::<Prepared>(a[0]) else { return Err(p.badarg()) };
    let has = r.0.lock().unwrap().as_ref().map(|i| i.has_on_load);
    has.map(Term::bool).ok_or_else(|| p.badarg())
}

fn finish_after_on_load(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(module) = a[0].as_atom() else { return Err(p.badarg()) };
    let _change = LockClass::CodeChange.lock(&CHANGES);
    let keep = a[1] == Term::bool(true);
    // Otherwise the purger takes it away: processes may run it, which on_load has spawned.
    let found = code::with_module(module, |m| match m.pending.take_if(|_| keep) {
        Some(instance) => {
            make_current(m, instance);
            true
        }
        None => m.pending.is_some(),
    });
    if found
        && keep
        && let Some(instance) = code::current(module)
    {
        breakpoints::code_loaded(&instance);
    }
    if found { Ok(Term::bool(true)) } else { Err(p.badarg()) }
}

/// Frees the code when no scheduler can still be inside.
fn free_later(instance: Arc<Instance>) {
    qsbr::retire(move || drop(instance));
}

fn delete_module(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(module) = a[0].as_atom() else { return Err(p.badarg()) };
    let _change = LockClass::CodeChange.lock(&CHANGES);
    let result = code::with_module(module, |m| {
        if m.old.is_some() {
            return None;
        }
        match m.current.take() {
            None => Some(if m.was_loaded { am::TRUE } else { am::UNDEFINED }),
            Some(instance) => {
                breakpoints::forget_code(&instance);
                for &(export, _) in &instance.exports {
                    if export.native.load(Ordering::Acquire) == 0 {
                        exports::unload(export);
                    }
                }
                m.old = Some(instance);
                Some(am::TRUE)
            }
        }
    });
    match result {
        Some(atom) => Ok(atom.into()),
        None => Err(p.badarg()),
    }
}

fn purge_module(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(module), Some(op)) = (a[0].as_atom(), a[1].as_atom()) else { return Err(p.badarg()) };
    let result = match op.name() {
        "prepare" => code::with_module(module, |m| {
            m.old.iter().for_each(|old| funs::start_purge(old));
            m.old.is_some()
        }),
        "prepare_on_load" => code::with_module(module, |m| {
            let Some(failed) = m.pending.take() else { return false };
            funs::start_purge(&failed);
            m.old_meanwhile = m.old.replace(failed);
            true
        }),
        "abort" => {
            if let Some(old) = code::with_module(module, |m| m.old.clone()) {
                funs::end_purge(&old, false);
            }
            false
        }
        "complete" => {
            let old = code::with_module(module, |m| std::mem::replace(&mut m.old, m.old_meanwhile.take()));
            match old {
                Some(old) => {
                    // Those of the same version may be in use by the current code (module loaded twice).
                    funs::end_purge(&old, true);
                    code::remove_range(&old);
                    old.unload_nifs();
                    free_later(old);
                    true
                }
                None => false,
            }
        }
        _ => return Err(p.badarg()),
    };
    Ok(Term::bool(result))
}

/// True if the process runs, or will return into, old code of the module.
pub fn uses_old_code(p: &Process, module: Atom) -> bool {
    let Some(old) = code::with_module(module, |m| m.old.clone()) else { return false };
    if old.contains(p.ip) || old.nifs.library().is_some_and(|library| library.is_scheduled(p.ip)) {
        return true;
    }
    heddle_runtime::stack::return_addresses(p).any(|address| old.contains(address))
}

fn check_process_code(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(module) = a[0].as_atom() else { return Err(p.badarg()) };
    Ok(Term::bool(uses_old_code(p, module)))
}

fn module_loaded(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(module) = a[0].as_atom() else { return Err(p.badarg()) };
    Ok(Term::bool(code::with_module(module, |m| m.current.is_some())))
}

fn check_old_code(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(module) = a[0].as_atom() else { return Err(p.badarg()) };
    Ok(Term::bool(code::with_module(module, |m| m.old.is_some())))
}

fn loaded(p: &mut Process, _: &[Term]) -> NativeResult {
    let names: Vec<Term> =
        code::with_all(|all| all.iter().filter(|(_, m)| m.current.is_some() || m.old.is_some()).map(|(&n, _)| n.into()).collect());
    Ok(p.heap.list(&names))
}

fn pre_loaded(p: &mut Process, _: &[Term]) -> NativeResult {
    let names: Vec<Term> = PRELOADED.lock().unwrap().iter().rev().map(|&n| n.into()).collect();
    Ok(p.heap.list(&names))
}

fn function_exported(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(module), Some(function), Some(arity)) = (a[0].as_atom(), a[1].as_atom(), a[2].as_small()) else {
        return Err(p.badarg());
    };
    if !(0..=255).contains(&arity) {
        return Ok(Term::bool(false));
    }
    let found = exports::find(Mfa { module, function, arity: arity as u8 });
    Ok(Term::bool(found.is_some_and(|e| exports::is_loaded(e) || is_bif(e))))
}

/// A native of the BIF table (not of a NIF library).
fn is_bif(export: &Export) -> bool {
    export.native.load(Ordering::Acquire) != 0
        && heddle_abi::natives::is_bif(export.mfa.module.name(), export.mfa.function.name(), export.mfa.arity)
}

fn is_builtin(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(module), Some(function), Some(arity)) = (a[0].as_atom(), a[1].as_atom(), a[2].as_small()) else {
        return Err(p.badarg());
    };
    if module == am::ERLANG && ((function == am::APPLY && (arity == 2 || arity == 3)) || (function == am::YIELD && arity == 0)) {
        return Ok(Term::bool(true));
    }
    let found = u8::try_from(arity).ok().and_then(|arity| exports::find(Mfa { module, function, arity }));
    Ok(Term::bool(found.is_some_and(is_bif)))
}

pub(crate) fn get_module_info_1(p: &mut Process, a: &[Term]) -> NativeResult {
    let mut items = Vec::new();
    for name in ["module", "exports", "attributes", "compile", "md5"] {
        let key = Atom::new(name);
        let value = module_info(p, a[0], key)?;
        items.push(p.heap.tuple(&[key.into(), value]));
    }
    Ok(p.heap.list(&items))
}

pub(crate) fn get_module_info_2(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(key) = a[1].as_atom() else { return Err(p.badarg()) };
    module_info(p, a[0], key)
}

fn module_info(p: &mut Process, module: Term, key: Atom) -> NativeResult {
    let Some(instance) = module.as_atom().and_then(code::current) else { return Err(p.badarg()) };
    Ok(match key.name() {
        "module" => instance.name.into(),
        "exports" => {
            // The chunk has them backwards; stock lists them as they were defined.
            let names = instance.exports.iter().rev();
            let list: Vec<Term> = names.map(|(e, _)| p.heap.tuple(&[e.mfa.function.into(), Term::small(e.mfa.arity as i64)])).collect();
            p.heap.list(&list)
        }
        "functions" => {
            let list: Vec<Term> = instance.functions.iter().map(|f| p.heap.tuple(&[f.name.into(), Term::small(f.arity as i64)])).collect();
            p.heap.list(&list)
        }
        "nifs" => {
            let linked = instance.functions.iter().map(|f| (f.name, f.arity));
            let linked = linked.filter(|(name, arity)| heddle_abi::natives::is_nif(instance.name.name(), name.name(), *arity));
            let functions = instance.nifs.library().map_or_else(|| linked.collect(), |library| library.functions());
            let list: Vec<Term> = functions.iter().map(|&(name, arity)| p.heap.tuple(&[name.into(), Term::small(arity as i64)])).collect();
            p.heap.list(&list)
        }
        "attributes" => instance.attributes,
        "compile" => instance.compile_info,
        "native" => Term::bool(false),
        "native_addresses" => Term::NIL,
        "md5" => p.heap.binary(&instance.md5),
        _ => return Err(p.badarg()),
    })
}

/// `load_nif/2` called at `caller`, in code of `module`.
pub fn load_nif(p: &mut Process, module: Atom, caller: *const u64, file: Term, info: Term) -> NativeResult {
    let linked = heddle_abi::natives::natives().iter().any(|n| {
        n.kind == heddle_abi::natives::NativeKind::Nif
            && n.module == module.name()
            && exports::find(Mfa { module, function: Atom::new(n.function), arity: n.arity })
                .is_some_and(|e| e.native.load(Ordering::Acquire) != 0)
    });
    // The libraries that are part of the emulator, which the start of OTP requires: their natives were linked when the module was loaded. A
    // function of theirs that is missing raises nif_error.
    if linked || matches!(module.name(), "zlib" | "erl_tracer" | "prim_tty") {
        return Ok(am::OK.into());
    }
    match (nifs::LOAD_NIF.get(), code::locate(caller)) {
        (Some(load), Some(place)) => load(p, &place.instance, file, info),
        _ => Err(p.error(am::NOTSUP)),
    }
}

/// `load_nif/2` that no code of a module calls: the operation knows its caller.
fn load_nif_applied(p: &mut Process, _: &[Term]) -> NativeResult {
    let text = p.heap.string("load_nif/2 must be explicitly called from the NIF module. It cannot be called through apply/3.");
    let reason = p.heap.tuple(&[Atom::new("bad_lib").into(), text]);
    Ok(p.heap.tuple(&[am::ERROR.into(), reason]))
}

fn beamfile_module_md5(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(bits) = heddle_term::bits::BitsView::of(a[0]).filter(|b| b.is_binary()) else { return Err(p.badarg()) };
    match heddle_beamfile::BeamFile::parse(&bits.to_vec()) {
        Ok(beam) => Ok(p.heap.binary(&beam.module_md5())),
        Err(_) => Ok(am::UNDEFINED.into()),
    }
}

fn beamfile_chunk(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(bits) = heddle_term::bits::BitsView::of(a[0]).filter(|b| b.is_binary()) else { return Err(p.badarg()) };
    let Some(id) = list_of(p, a[1]).filter(|l| l.len() == 4) else { return Err(p.badarg()) };
    let mut name = [0u8; 4];
    for (byte, term) in name.iter_mut().zip(&id) {
        match term.as_small() {
            Some(c @ 0..=255) => *byte = c as u8,
            _ => return Err(p.badarg()),
        }
    }
    let bytes = bits.to_vec();
    let Ok(chunks) = heddle_beamfile::container::chunks(&bytes) else { return Ok(am::UNDEFINED.into()) };
    match heddle_beamfile::container::find(&bytes, &chunks, &name) {
        Some(data) => Ok(p.heap.binary(data)),
        None => Ok(am::UNDEFINED.into()),
    }
}
