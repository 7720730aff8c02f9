//! Binding schedulers to logical processors: `+sbt`, `+sct`, `system_flag(scheduler_bind_type | cpu_topology, _)`.

use super::{cpus, topology};
use cpus::Cpu;
use heddle_runtime::affinity;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Atom, Heap, Term, am};
use std::sync::Mutex;

struct Binding {
    /// The topology that the user gave. None: the detected one.
    defined: Option<Vec<Cpu>>,
    /// Nothing is detected: `+sct` gave the topology, or `+ssrct`.
    undetected: bool,
    kind: &'static str,
}

static BINDING: Mutex<Binding> = Mutex::new(Binding { defined: None, undetected: false, kind: "unbound" });

impl Binding {
    fn detected(&self) -> Option<Vec<Cpu>> {
        if self.undetected {
            return None;
        }
        let mut heap = Heap::new();
        let detected = topology::detected(&mut heap);
        let cpus = cpus::from_term(detected);
        heap.clear();
        cpus
    }

    fn used(&self) -> Option<Vec<Cpu>> {
        self.defined.clone().or_else(|| self.detected())
    }

    fn apply(&self) {
        let order = self.used().and_then(|cpus| cpus::order(&cpus, self.kind)).unwrap_or_default();
        let order: Vec<u32> = order.into_iter().filter(|&cpu| affinity::is_available(cpu)).collect();
        affinity::bind(|scheduler| order.get(scheduler).copied());
    }
}

/// `+sct`
pub fn topology_flag(text: &str) -> Result<(), String> {
    let cpus = cpus::from_flag(text).map_err(|wrong| format!("bad cpu topology '{text}': {wrong}"))?;
    let mut settings = BINDING.lock().unwrap();
    settings.defined = Some(cpus);
    settings.undetected = true;
    Ok(())
}

/// `+ssrct`
pub fn detect_nothing() {
    BINDING.lock().unwrap().undetected = true;
}

/// `+sbt`, `+stbt`
pub fn type_flag(text: &str) -> Result<(), String> {
    let full = if text == "db" { "tnnps" } else { text };
    let known = cpus::TYPES.iter().find(|(_, short)| *short == full);
    let (name, _) = known.ok_or_else(|| format!("setting scheduler bind type '{text}' failed: invalid type"))?;
    BINDING.lock().unwrap().kind = name;
    Ok(())
}

/// Called when the number of schedulers is known, before they start.
pub fn init(schedulers: usize) {
    affinity::init(schedulers);
    BINDING.lock().unwrap().apply();
}

fn shown(heap: &mut Heap, cpus: Option<Vec<Cpu>>) -> Term {
    cpus.map_or(am::UNDEFINED.into(), |cpus| cpus::term(heap, &cpus))
}

/// `system_info(cpu_topology)`, `system_info({cpu_topology, What})`.
pub fn topology(heap: &mut Heap, what: &str) -> Option<Term> {
    let settings = BINDING.lock().unwrap();
    let cpus = match what {
        "used" => settings.used(),
        "defined" => settings.defined.clone(),
        "detected" => settings.detected(),
        _ => return None,
    };
    Some(shown(heap, cpus))
}

pub fn kind() -> Atom {
    Atom::new(BINDING.lock().unwrap().kind)
}

pub fn bindings(heap: &mut Heap) -> Term {
    let bindings: Vec<Term> = affinity::bindings()
        .into_iter()
        .map(|cpu| cpu.map_or_else(|| Atom::new("unbound").into(), |cpu| Term::small(cpu as i64)))
        .collect();
    heap.tuple(&bindings)
}

fn named(name: Term) -> Option<&'static str> {
    let name = name.as_atom()?.name();
    let name = if name == "default_bind" { "thread_no_node_processor_spread" } else { name };
    cpus::TYPES.iter().find(|(known, _)| *known == name).map(|(known, _)| *known)
}

/// What the bindings would be if all processors of the topology existed: a tuple, or `false`. None: there is no such type.
pub fn fake(heap: &mut Heap, kind: Term) -> Option<Term> {
    let kind = named(kind)?;
    let cpus = BINDING.lock().unwrap().used();
    let order = cpus.and_then(|cpus| cpus::order(&cpus, kind));
    Some(match order {
        Some(order) => {
            let order: Vec<Term> = order.into_iter().map(|cpu| Term::small(cpu as i64)).collect();
            heap.tuple(&order)
        }
        None => Term::bool(false),
    })
}

/// `system_flag(scheduler_bind_type, Type)`
pub fn set_kind(p: &mut Process, value: Term) -> NativeResult {
    let Some(new) = named(value) else { return Err(p.badarg()) };
    let mut settings = BINDING.lock().unwrap();
    let old = std::mem::replace(&mut settings.kind, new);
    settings.apply();
    Ok(Atom::new(old).into())
}

/// `system_flag(cpu_topology, Topology)`. Returns the topology that was used before.
pub fn set_topology(p: &mut Process, value: Term) -> NativeResult {
    let new = if value.is_atom_of(am::UNDEFINED) { Some(None) } else { cpus::from_term(value).map(Some) };
    let Some(new) = new else { return Err(p.badarg()) };
    let mut settings = BINDING.lock().unwrap();
    let old = shown(&mut p.heap, settings.used());
    settings.defined = new;
    settings.apply();
    Ok(old)
}
