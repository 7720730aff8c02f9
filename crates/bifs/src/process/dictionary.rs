//! The process dictionary.

use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Term, am, order};

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "get"/0 => get_0,
        "get"/1 => get_1,
        "put"/2 => put_2,
        "erase"/0 => erase_0,
        "erase"/1 => erase_1,
        "get_keys"/0 => get_keys_0,
        "get_keys"/1 => get_keys_1,
    }
}

fn undefined() -> Term {
    am::UNDEFINED.into()
}

fn get_0(p: &mut Process, _: &[Term]) -> NativeResult {
    let pairs: Vec<Term> = p.dictionary.entries().to_vec().into_iter().map(|(k, v)| p.heap.tuple(&[k, v])).collect();
    Ok(p.heap.list(&pairs))
}
fn get_1(p: &mut Process, a: &[Term]) -> NativeResult {
    Ok(p.dictionary.get(a[0]).unwrap_or(undefined()))
}
fn put_2(p: &mut Process, a: &[Term]) -> NativeResult {
    Ok(p.dictionary.put(a[0], a[1]).unwrap_or(undefined()))
}
fn erase_0(p: &mut Process, a: &[Term]) -> NativeResult {
    let all = get_0(p, a)?;
    p.dictionary.clear();
    Ok(all)
}
fn erase_1(p: &mut Process, a: &[Term]) -> NativeResult {
    Ok(p.dictionary.erase(a[0]).unwrap_or(undefined()))
}
fn get_keys_0(p: &mut Process, _: &[Term]) -> NativeResult {
    let keys: Vec<Term> = p.dictionary.entries().iter().map(|e| e.0).collect();
    Ok(p.heap.list(&keys))
}
fn get_keys_1(p: &mut Process, a: &[Term]) -> NativeResult {
    let keys: Vec<Term> = p.dictionary.entries().iter().filter(|e| order::exact_eq(e.1, a[0])).map(|e| e.0).collect();
    Ok(p.heap.list(&keys))
}
