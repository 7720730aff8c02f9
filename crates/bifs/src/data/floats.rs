//! Floats from and to text.

use super::bytes;
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::text::{float, float_parse};
use heddle_term::{Atom, Term, am, list};

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "float_to_list"/1 => float_to_list,
        "float_to_list"/2 => float_to_list,
        "float_to_binary"/1 => float_to_binary,
        "float_to_binary"/2 => float_to_binary,
        "list_to_float"/1 => list_to_float,
        "binary_to_float"/1 => binary_to_float,
    }
    "string" => { "list_to_float"/1 => string_list_to_float }
}

#[derive(Clone, Copy)]
enum Form {
    Scientific,
    Decimals,
    Short,
}

/// Decimals that C writes if their number is not given.
const C_DECIMALS: usize = 6;

fn text(a: &[Term]) -> Option<String> {
    let value = a[0].as_float()?;
    let mut form = Form::Scientific;
    let mut decimals = Some(20);
    let mut compact = false;
    let mut options = a.get(1).copied().unwrap_or(Term::NIL);
    while options.is_cons() {
        let option = options.head();
        options = options.tail();
        match option.as_atom() {
            Some(am::SHORT) => form = Form::Short,
            Some(am::COMPACT) => compact = true,
            Some(_) => return None,
            None => {
                let (name, value) = args::option(option)?;
                // Stock keeps it as a C integer.
                let count = value.as_small()? as i32;
                decimals = usize::try_from(count).ok();
                form = match name {
                    am::DECIMALS => Form::Decimals,
                    am::SCIENTIFIC => Form::Scientific,
                    _ => return None,
                };
            }
        }
    }
    if !options.is_nil() {
        return None;
    }
    match form {
        // For C, a negative number of decimals means that none is given.
        Form::Scientific => float::scientific_limited(value, decimals.unwrap_or(C_DECIMALS)),
        Form::Decimals => float::decimals(value, decimals?, compact),
        Form::Short => Some(float::short(value)),
    }
}

fn float_to_list(p: &mut Process, a: &[Term]) -> NativeResult {
    match text(a) {
        Some(text) => Ok(p.heap.byte_list(text.as_bytes())),
        None => Err(p.badarg()),
    }
}

fn float_to_binary(p: &mut Process, a: &[Term]) -> NativeResult {
    match text(a) {
        Some(text) => Ok(p.heap.binary(text.as_bytes())),
        None => Err(p.badarg()),
    }
}

fn parsed(p: &mut Process, text: Option<&[u8]>) -> NativeResult {
    // What follows a zero byte is ignored (the old external format pads with zeros).
    let value = text.and_then(|text| {
        let end = text.iter().position(|&byte| byte == 0 || !may_be_float(byte)).unwrap_or(text.len());
        if text.get(end).is_some_and(|&byte| byte != 0) { None } else { float_parse::parse(&text[..end]) }
    });
    match value {
        Some(value) => Ok(p.heap.float(value)),
        None => Err(p.badarg()),
    }
}

/// True for bytes that may be in the text of a float.
fn may_be_float(byte: u8) -> bool {
    byte.is_ascii_digit() || b"+-.,eE".contains(&byte)
}

fn list_to_float(p: &mut Process, a: &[Term]) -> NativeResult {
    let mut rest = a[0];
    while rest.is_cons() {
        match rest.head().as_small().and_then(|c| u8::try_from(c).ok()) {
            Some(0) => break,
            Some(c) if may_be_float(c) => rest = rest.tail(),
            _ => return Err(p.badarg()),
        }
    }
    parsed(p, list::latin1_bytes(a[0]).as_deref())
}

fn binary_to_float(p: &mut Process, a: &[Term]) -> NativeResult {
    parsed(p, bytes::bytes(a[0], &mut Vec::new()))
}

/// The longest beginning of `text` that reads as a float.
fn float_prefix(text: &[u8]) -> Option<usize> {
    let digits = |from: usize| text[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = matches!(text.first(), Some(b'+' | b'-')) as usize;
    let whole = digits(at);
    at += whole;
    if whole == 0 || !matches!(text.get(at), Some(b'.' | b',')) {
        return None;
    }
    let fraction = digits(at + 1);
    if fraction == 0 {
        return None;
    }
    at += 1 + fraction;
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = matches!(text.get(at + 1), Some(b'+' | b'-')) as usize;
        let exponent = digits((at + 1 + sign).min(text.len()));
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    Some(at)
}

/// `{Float, Rest}`, `{error, no_float}` or `{error, not_a_list}`.
fn string_list_to_float(p: &mut Process, a: &[Term]) -> NativeResult {
    let mut error = |reason: &str| Ok(p.heap.tuple(&[am::ERROR.into(), Atom::new(reason).into()]));
    if !a[0].is_list() {
        return error("not_a_list");
    }
    let mut text = Vec::new();
    let mut rest = a[0];
    while rest.is_cons() {
        match rest.head().as_small() {
            Some(c @ 0..128) if (c as u8).is_ascii_digit() || b"+-.,eE".contains(&(c as u8)) => text.push(c as u8),
            _ => break,
        }
        rest = rest.tail();
    }
    let Some(len) = float_prefix(&text) else { return error("no_float") };
    let Some(value) = float_parse::parse(&text[..len]) else { return error("no_float") };
    let mut rest = a[0];
    for _ in 0..len {
        rest = rest.tail();
    }
    let value = p.heap.float(value);
    Ok(p.heap.tuple(&[value, rest]))
}
