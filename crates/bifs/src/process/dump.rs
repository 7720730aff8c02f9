//! A process as text: its stack and its properties, as in crash dumps.

use heddle_runtime::process::Process;
use heddle_runtime::{code, stack};
use heddle_term::term::TAG_CONTINUATION;
use heddle_term::{Atom, Term, text};
use std::fmt::Write;

/// Longest text of a term in bytes. Longer ones are cut.
const LONGEST: usize = 10_000;

fn term(term: Term) -> String {
    let mut text = text::display::to_string(term);
    if text.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(end);
        text.push_str("...");
    }
    text
}

/// `module:function/arity + Bytes` of a code address; `cell` lies in the operation that it belongs to.
fn place(address: *const u64, cell: *const u64) -> String {
    match code::locate(cell) {
        Some(found) => {
            let start = found.instance.function_at(found.offset).map_or(0, |f| f.entry);
            let bytes = (address as usize).wrapping_sub(found.instance.code.as_ptr().wrapping_add(start as usize) as usize);
            let mfa = found.mfa;
            format!("({}:{}/{} + {bytes})", term(mfa.module.into()), term(mfa.function.into()), mfa.arity)
        }
        None => "(<terminate process normally>)".into(),
    }
}

/// The program counter and the frames with what their slots hold. Empty for a sensitive process.
pub fn stack(q: &Process) -> String {
    let mut out = String::new();
    if q.sensitive {
        return out;
    }
    let _ = writeln!(out, "Program counter: {:#018x} {}", q.ip as usize, place(q.ip, q.ip));
    let mut y = 0;
    for (slot, word) in stack::words(q) {
        if word.is_continuation() {
            let address = (word.raw() - TAG_CONTINUATION) as *const u64;
            let _ = writeln!(
                out,
                "\n{:#018x} Return addr {:#018x} {}",
                slot as usize,
                address as usize,
                place(address, address.wrapping_sub(1))
            );
            y = 0;
        } else {
            let text = if word.is_catch_marker() { "Catch".into() } else { term(word) };
            let _ = writeln!(out, "y({y})     {text}");
            y += 1;
        }
    }
    out
}

/// The result of the action `{process_dump}`.
pub fn whole(q: &Process) -> String {
    facts(q, "Running", true) + &stack(q)
}

/// The section of a process in a crash dump. It has no terms: the viewer expects them in sections of their own.
pub fn section(q: &Process, state: &str) -> String {
    let mut out = facts(q, state, false);
    if let Some(found) = code::locate(q.ip) {
        let _ = writeln!(out, "Current call: {}:{}/{}", found.mfa.module.name(), found.mfa.function.name(), found.mfa.arity);
    }
    let _ = writeln!(out, "Program counter: {:#018x} {}", q.ip as usize, place(q.ip, q.ip));
    out
}

/// The stack as crash dumps have it: return addresses, and the slots that hold small integers, atoms, pids and `[]`.
pub fn stack_section(q: &Process) -> String {
    let mut out = format!("=proc_stack:{}\n", term(q.pid_term()));
    if q.sensitive {
        return out;
    }
    let mut y = 0;
    for (slot, word) in stack::words(q) {
        if word.is_continuation() {
            let address = (word.raw() - TAG_CONTINUATION) as *const u64;
            let _ = writeln!(out, "{:#x}:SReturn addr {:#X} {}", slot as usize, address as usize, place(address, address.wrapping_sub(1)));
            y = 0;
        } else {
            if let Some(text) = encoded(word) {
                let _ = writeln!(out, "y{y}:{text}");
            }
            y += 1;
        }
    }
    out
}

/// An immediate term in the dump's own notation.
fn encoded(word: Term) -> Option<String> {
    if word.is_nil() {
        Some("N".into())
    } else if let Some(atom) = word.as_atom() {
        Some(format!("A{:X}:{}", atom.name().len(), atom.name()))
    } else if let Some(n) = word.as_small() {
        Some(format!("I{n}"))
    } else {
        word.is_local_pid().then(|| format!("P{}", term(word)))
    }
}

fn facts(q: &Process, state: &str, with_terms: bool) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "=proc:{}", term(q.pid_term()));
    let _ = writeln!(out, "State: {state}");
    let name = q.shared().name.load(std::sync::atomic::Ordering::Acquire);
    if name != 0 {
        let _ = writeln!(out, "Name: {}", term(Atom::from_index(name - 1).into()));
    }
    let first = q.initial_call;
    let _ = writeln!(out, "Spawned as: {}:{}/{}", term(first.module.into()), term(first.function.into()), first.arity);
    let _ = writeln!(out, "Spawned by: {}", term(Term::local_pid(q.parent)));
    let _ = writeln!(out, "Message queue length: {}", q.messages.len());
    if with_terms && !q.sensitive && !q.messages.is_empty() {
        let messages: Vec<String> = q.messages.terms().map(term).collect();
        let _ = writeln!(out, "Message queue: [{}]", messages.join(","));
    }
    let _ = writeln!(out, "Heap fragment data: {}", q.heap.fragment_words);
    if let Some(inner) = q.relations.get() {
        let others: Vec<String> = inner.links.iter().filter(|(_, l)| l.active).map(|(&other, _)| term(other)).collect();
        if !others.is_empty() {
            let _ = writeln!(out, "Link list: [{}]", others.join(","));
        }
    }
    if with_terms && !q.sensitive && !q.dictionary.entries().is_empty() {
        let pairs: Vec<String> = q.dictionary.entries().iter().map(|&(k, v)| format!("{{{},{}}}", term(k), term(v))).collect();
        let _ = writeln!(out, "Dictionary: [{}]", pairs.join(","));
    }
    let _ = writeln!(out, "Reductions: {}", q.reductions);
    let _ = writeln!(out, "Stack+heap: {}", q.heap_words());
    let _ = writeln!(out, "OldHeap: {}", q.old_words());
    let _ = writeln!(out, "Heap unused: {}", q.free_words().max(0));
    let _ = writeln!(out, "OldHeap unused: {}", (q.old_end as usize - q.old_top as usize) / 8);
    out
}
