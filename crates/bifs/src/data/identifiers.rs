//! Pids, ports, references and funs: from and to text, and what funs are made of.

use heddle_natives::args;
use heddle_runtime::exports;
use heddle_runtime::process::nodes::nodes;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::code_cell::Mfa;
use heddle_term::code_hooks::hooks;
use heddle_term::ident::{PID_NUMBER_BITS, PidView, PortView, REF_WORD0_BITS, RefView};
use heddle_term::text::display;
use heddle_term::{Atom, FunEntry, Kind, Term, am, fun, list};

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "pid_to_list"/1 => pid_to_list,
        "port_to_list"/1 => port_to_list,
        "ref_to_list"/1 => ref_to_list,
        "fun_to_list"/1 => fun_to_list,
        "list_to_pid"/1 => list_to_pid,
        "list_to_port"/1 => list_to_port,
        "list_to_ref"/1 => list_to_ref,
        "make_fun"/3 => make_fun,
        "fun_info"/2 => fun_info,
        "fun_info_mfa"/1 => fun_info_mfa,
    }
}

fn to_list(p: &mut Process, term: Term, is_kind: bool) -> NativeResult {
    match display::identifier(term).filter(|_| is_kind) {
        Some(text) => Ok(p.heap.byte_list(text.as_bytes())),
        None => Err(p.badarg()),
    }
}

fn pid_to_list(p: &mut Process, a: &[Term]) -> NativeResult {
    to_list(p, a[0], a[0].is_pid())
}
fn port_to_list(p: &mut Process, a: &[Term]) -> NativeResult {
    to_list(p, a[0], a[0].is_port())
}
fn ref_to_list(p: &mut Process, a: &[Term]) -> NativeResult {
    heddle_term::resource::remember_term(a[0]);
    to_list(p, a[0], a[0].is_reference())
}

fn fun_to_list(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[0].is_fun() {
        return Err(p.badarg());
    }
    let text = display::to_string(a[0]);
    Ok(p.heap.string(&text))
}

/// The numbers between `prefix` and `>`, separated by points.
fn numbers(text: Term, prefix: &str) -> Option<Vec<u64>> {
    let text = String::from_utf8(list::latin1_bytes(text)?).ok()?;
    let digits = |part: &str| if part.bytes().all(|b| b.is_ascii_digit()) { part.parse().ok() } else { None };
    text.strip_prefix(prefix)?.strip_suffix('>')?.split('.').map(digits).collect()
}

// A node number other than 0 stands for another node as printed here; its connection says which start of that node.

fn list_to_pid(p: &mut Process, a: &[Term]) -> NativeResult {
    match numbers(a[0], "<").as_deref() {
        Some(&[0, number, serial]) if number >> PID_NUMBER_BITS == 0 && serial >> 30 == 0 => {
            Ok(Term::local_pid(number | serial << PID_NUMBER_BITS))
        }
        Some(&[node, number, serial]) if node != 0 => match (nodes().shown_as(node), u32::try_from(number), u32::try_from(serial)) {
            (Some((node, creation)), Ok(number), Ok(serial)) => Ok(PidView { node, creation, number, serial }.to_term(&mut p.heap)),
            _ => Err(p.badarg()),
        },
        _ => Err(p.badarg()),
    }
}

fn list_to_port(p: &mut Process, a: &[Term]) -> NativeResult {
    match numbers(a[0], "#Port<").as_deref() {
        Some(&[0, number]) if number >> 58 == 0 => Ok(Term::local_port(number)),
        Some(&[node, number]) if node != 0 => match nodes().shown_as(node) {
            Some((node, creation)) => Ok(PortView { node, creation, number }.to_term(&mut p.heap)),
            None => Err(p.badarg()),
        },
        _ => Err(p.badarg()),
    }
}

fn list_to_ref(p: &mut Process, a: &[Term]) -> NativeResult {
    let numbers = numbers(a[0], "#Ref<").unwrap_or_default();
    let words: Vec<u32> = numbers.iter().rev().filter_map(|&n| u32::try_from(n).ok()).collect();
    if words.len() != numbers.len() {
        return Err(p.badarg());
    }
    match words[..] {
        [w0, w1, w2, 0] if w0 >> REF_WORD0_BITS == 0 => Ok(match (hooks().find_magic)([w0, w1, w2]) {
            Some(object) => p.heap.magic_reference([w0, w1, w2], object),
            None => p.heap.reference([w0, w1, w2]),
        }),
        [w0, w1, w2, w3, w4, 0] if w0 >> REF_WORD0_BITS == 0 && w4 >> 26 == 0 => {
            Ok(p.heap.alias_reference([w0, w1, w2], w3 as u64 | (w4 as u64) << 32))
        }
        [.., node] if node != 0 && (2..=6).contains(&words.len()) => {
            let Some((node, creation)) = nodes().shown_as(node as u64) else { return Err(p.badarg()) };
            let count = words.len() - 1;
            let mut all = [0; 5];
            all[..count].copy_from_slice(&words[..count]);
            Ok(RefView { node, creation, count, words: all }.to_term(&mut p.heap))
        }
        _ => Err(p.badarg()),
    }
}

fn make_fun(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(module), Some(function), Some(arity @ 0..=255)) = (a[0].as_atom(), a[1].as_atom(), args::count(a[2])) else {
        return Err(p.badarg());
    };
    let export = exports::get(Mfa { module, function, arity: arity as u8 });
    Ok(fun::make_export(&mut p.heap, export))
}

fn fun_info(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(item) = a[1].as_atom() else { return Err(p.badarg()) };
    let value = match a[0].kind() {
        Some(Kind::Fun) => local_info(p, a[0], item.name()),
        Some(Kind::ExportFun) => export_info(a[0], item.name()),
        _ => None,
    };
    match value {
        Some(value) => Ok(p.heap.tuple(&[a[1], value])),
        None => Err(p.badarg()),
    }
}

fn local_info(p: &mut Process, term: Term, item: &str) -> Option<Term> {
    let entry = fun::entry(term);
    let (creator, free) = fun::creator_and_free(term);
    Some(match item {
        "type" => Atom::new("local").into(),
        "module" => entry.module.into(),
        "name" => fun_name(entry),
        "arity" => Term::small(entry.arity as i64),
        "env" => p.heap.list(free),
        "pid" => creator,
        "index" | "new_index" => Term::small(entry.index as i64),
        "uniq" => Term::small(entry.old_uniq as i64),
        "new_uniq" => p.heap.binary(&entry.uniq),
        // The code and this term. Copies in heaps are not counted.
        "refc" => Term::small(2),
        _ => return None,
    })
}

/// The name of a fun's function, which is known only while its code is loaded.
fn fun_name(entry: &FunEntry) -> Term {
    if heddle_runtime::funs::is_loaded(entry) { entry.function.into() } else { Term::NIL }
}

fn export_info(term: Term, item: &str) -> Option<Term> {
    let mfa = fun::export(term).mfa;
    Some(match item {
        "type" => Atom::new("external").into(),
        "module" => mfa.module.into(),
        "name" => mfa.function.into(),
        "arity" => Term::small(mfa.arity as i64),
        "env" => Term::NIL,
        "pid" | "index" | "new_index" | "uniq" | "new_uniq" | "refc" => am::UNDEFINED.into(),
        _ => return None,
    })
}

fn fun_info_mfa(p: &mut Process, a: &[Term]) -> NativeResult {
    let (module, function, arity) = match a[0].kind() {
        Some(Kind::Fun) => {
            let entry = fun::entry(a[0]);
            (entry.module, fun_name(entry), entry.arity)
        }
        Some(Kind::ExportFun) => {
            let mfa = fun::export(a[0]).mfa;
            (mfa.module, mfa.function.into(), mfa.arity)
        }
        _ => return Err(p.badarg()),
    };
    Ok(p.heap.tuple(&[module.into(), function, Term::small(arity as i64)]))
}
