//! Atoms from and to text.

use super::unicode::{Encoding, encoding};
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_term::atom::{AtomError, MAX_CHARACTERS, table_full};
use heddle_term::bits::BitsView;
use heddle_term::{Atom, Term};

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "atom_to_list"/1 => atom_to_list,
        "list_to_atom"/1 => list_to_atom,
        "list_to_existing_atom"/1 => list_to_existing_atom,
        "atom_to_binary"/2 => atom_to_binary,
        "binary_to_atom"/2 => binary_to_atom,
        "binary_to_existing_atom"/2 => binary_to_existing_atom,
    }
}

fn atom_to_list(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(atom) = a[0].as_atom() else { return Err(p.badarg()) };
    let name = atom.name();
    Ok(if name.is_ascii() { p.heap.byte_list(name.as_bytes()) } else { p.heap.string(name) })
}

fn make(p: &mut Process, text: &str) -> NativeResult {
    match Atom::try_new(text) {
        Ok(atom) => Ok(atom.into()),
        Err(AtomError::TooLong) => Err(p.system_limit()),
        Err(AtomError::TableFull) => table_full(),
    }
}

enum Text {
    Good(String),
    TooLong,
    Bad,
}

/// The characters of a list for an atom. A list that starts with more than 255 characters is a case of its own, whatever follows.
fn name_of_list(term: Term) -> Text {
    let mut text = String::with_capacity(32);
    let mut rest = term;
    let mut count = 0;
    while rest.is_cons() {
        let Some(c) = rest.head().as_small().and_then(|v| u32::try_from(v).ok()).and_then(char::from_u32) else { return Text::Bad };
        if count == MAX_CHARACTERS {
            return Text::TooLong;
        }
        count += 1;
        text.push(c);
        rest = rest.tail();
    }
    if rest.is_nil() { Text::Good(text) } else { Text::Bad }
}

fn list_to_atom(p: &mut Process, a: &[Term]) -> NativeResult {
    match name_of_list(a[0]) {
        Text::Good(text) => make(p, &text),
        Text::TooLong => Err(p.system_limit()),
        Text::Bad => Err(p.badarg()),
    }
}

fn list_to_existing_atom(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Text::Good(text) = name_of_list(a[0])
        && let Some(atom) = Atom::existing(&text)
    {
        return Ok(atom.into());
    }
    Err(p.badarg())
}

fn atom_to_binary(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(atom), Some(encoding)) = (a[0].as_atom(), encoding(a[1])) else { return Err(p.badarg()) };
    let name = atom.name();
    if encoding == Encoding::Utf8 || name.is_ascii() {
        return Ok(p.heap.binary(name.as_bytes()));
    }
    match name.chars().map(|c| u8::try_from(c as u32).ok()).collect::<Option<Vec<u8>>>() {
        Some(bytes) => Ok(p.heap.binary(&bytes)),
        None => Err(p.badarg()),
    }
}

/// Longest name in UTF-8: four bytes a character.
const MAX_UTF8_BYTES: usize = 4 * MAX_CHARACTERS;

fn name_of_binary(p: &mut Process, a: &[Term]) -> Result<String, Thrown> {
    let Some(view) = BitsView::of(a[0]).filter(BitsView::is_binary) else { return Err(p.badarg()) };
    let Some(encoding) = encoding(a[1]) else { return Err(p.badarg()) };
    let limit = if encoding == Encoding::Utf8 { MAX_UTF8_BYTES } else { MAX_CHARACTERS };
    if (view.size_bits / 8) as usize > limit {
        // Too long, whatever the characters are.
        return Err(p.system_limit());
    }
    let bytes = view.to_vec();
    match encoding {
        // Too many characters before the first bad byte are an error of their own, whatever follows.
        Encoding::Utf8 => String::from_utf8(bytes).map_err(|e| {
            let good = e.utf8_error().valid_up_to();
            let good = std::str::from_utf8(&e.as_bytes()[..good]).map_or(0, |text| text.chars().count());
            if good >= MAX_CHARACTERS { p.system_limit() } else { p.badarg() }
        }),
        Encoding::Latin1 => Ok(bytes.iter().map(|&b| b as char).collect()),
    }
}

/// The name that a binary has, if it is in place: of ASCII characters, and not too long.
fn ascii_name(a: &[Term]) -> Option<&str> {
    encoding(a[1])?;
    let bytes = BitsView::of(a[0])?.as_bytes()?;
    if bytes.len() <= MAX_CHARACTERS && bytes.is_ascii() { std::str::from_utf8(bytes).ok() } else { None }
}

fn binary_to_atom(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(name) = ascii_name(a) {
        return make(p, name);
    }
    let text = name_of_binary(p, a)?;
    make(p, &text)
}

fn binary_to_existing_atom(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(atom) = ascii_name(a).and_then(Atom::existing) {
        return Ok(atom.into());
    }
    let text = name_of_binary(p, a).map_err(|_| p.badarg())?;
    match Atom::existing(&text) {
        Some(atom) => Ok(atom.into()),
        None => Err(p.badarg()),
    }
}
