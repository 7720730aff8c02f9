//! File names: between Erlang's terms and the bytes of the operating system.

use heddle_abi::settings::SETTINGS;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::Atom;
use heddle_term::Term;
use heddle_term::am;
use heddle_term::bits::BitsView;

heddle_runtime::natives! { TABLE:
    "prim_file" => {
        "internal_name2native"/1 => internal_name2native,
        "internal_native2name"/1 => internal_native2name,
        "internal_normalize_utf8"/1 => internal_normalize_utf8,
        "is_translatable"/1 => is_translatable,
    }
}

pub fn is_utf8() -> bool {
    SETTINGS.utf8_names.is_on()
}

/// Bytes of a name given as a binary (raw), atom, or deep list of characters; None for anything else, and if there is a NUL.
pub fn to_native(name: Term) -> Option<Vec<u8>> {
    let bytes = if let Some(view) = BitsView::of(name).filter(|b| b.is_binary()) {
        view.to_vec()
    } else {
        let mut text = String::new();
        flatten(name, &mut text)?;
        if is_utf8() { text.into_bytes() } else { text.chars().map(|c| u8::try_from(c as u32).ok()).collect::<Option<Vec<u8>>>()? }
    };
    (!bytes.contains(&0)).then_some(bytes)
}

/// Appends the characters of a deep list of characters and atoms. Returns None for another term.
fn flatten(term: Term, out: &mut String) -> Option<()> {
    let mut stack = vec![term];
    while let Some(t) = stack.pop() {
        if let Some(c) = t.as_small() {
            out.push(char::from_u32(u32::try_from(c).ok()?)?);
        } else if let Some(atom) = t.as_atom() {
            out.push_str(atom.name());
        } else if t.is_cons() {
            stack.push(t.tail());
            stack.push(t.head());
        } else if !t.is_nil() {
            return None;
        }
    }
    Some(())
}

fn internal_name2native(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[0].as_small().is_some() || a[0].as_atom().is_some() {
        return Err(p.badarg());
    }
    let Some(mut bytes) = to_native(a[0]) else { return Err(p.badarg()) };
    bytes.push(0);
    Ok(p.heap.binary(&bytes))
}

/// A name from the system: a string if the bytes decode, else a binary.
pub fn to_term(p: &mut Process, bytes: &[u8]) -> Term {
    if !is_utf8() {
        return p.heap.byte_list(bytes);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => p.heap.string(text),
        Err(_) => p.heap.binary(bytes),
    }
}

fn internal_native2name(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(bytes) = heddle_natives::args::binary(a[0]) else { return Err(p.badarg()) };
    if is_utf8() && std::str::from_utf8(&bytes).is_err() {
        let what = Atom::new(SETTINGS.untranslatable_names.get().name());
        return Ok(p.heap.tuple(&[am::ERROR.into(), what.into()]));
    }
    Ok(to_term(p, &bytes))
}

fn internal_normalize_utf8(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(bytes) = heddle_natives::args::binary(a[0]) else { return Err(p.badarg()) };
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(p.heap.string(text)),
        Err(_) => Err(p.badarg()),
    }
}

fn is_translatable(_: &mut Process, a: &[Term]) -> NativeResult {
    Ok(Term::bool(!a[0].is_binary() || is_utf8() && heddle_natives::args::binary(a[0]).is_some_and(|b| std::str::from_utf8(&b).is_ok())))
}
