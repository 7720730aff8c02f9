//! Floats to text, as `erlang:float_to_list/1,2` writes them.

use crate::big::{SMALL_TEXT_BYTES, small_text};
use std::cmp::Ordering;
use std::fmt::Write;

/// `float_to_list(F)` is `scientific(F, 20)`; also `[{scientific, Decimals}]`: C's `%.*e`, exactly rounded.
pub fn scientific(value: f64, decimals: usize) -> String {
    if let Some(text) = scientific_by_digits(value, decimals) {
        return text;
    }
    let text = format!("{value:.decimals$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mut text = String::from(mantissa);
    push_exponent(&mut text, exponent);
    text
}

/// Rust writes `1.5e7`; C writes a sign and at least two digits.
fn push_exponent(text: &mut String, exponent: i32) {
    text.push_str(if exponent < 0 { "e-" } else { "e+" });
    if exponent.abs() < 10 {
        text.push('0');
    }
    push_ascii(text, small_text(exponent.unsigned_abs() as i64, 10, &mut [0; SMALL_TEXT_BYTES]));
}

/// Most digits of the text of `scientific_by_digits`.
const MAX_DIGITS: usize = 32;
/// Bits of a fraction, times ten, have room in 128 bits.
const MAX_FRACTION_BITS: i32 = 124;

/// As `scientific`, for numbers from some 2^-71 on below 2^53: digit by digit, in integers. Much faster than the way that does for all numbers, if
/// there are more decimals than an f64 determines. None for others.
fn scientific_by_digits(value: f64, decimals: usize) -> Option<String> {
    let bits = value.abs().to_bits();
    let fraction_bits = 1075 - (bits >> 52) as i32;
    if !(1..=MAX_FRACTION_BITS).contains(&fraction_bits) || decimals >= MAX_DIGITS {
        return None;
    }
    // The value is `mantissa` times two to the power of `-fraction_bits`.
    let mantissa = ((bits & ((1 << 52) - 1)) | 1 << 52) as u128;
    let mask = (1u128 << fraction_bits) - 1;
    let (whole, mut fraction) = ((mantissa >> fraction_bits) as u64, mantissa & mask);
    let mut next = || {
        fraction *= 10;
        let digit = (fraction >> fraction_bits) as u8;
        fraction &= mask;
        digit
    };
    let mut digits = [0; MAX_DIGITS];
    let (mut count, mut exponent) = (0, 0);
    if whole > 0 {
        let mut room = [0; SMALL_TEXT_BYTES];
        let text = small_text(whole as i64, 10, &mut room);
        if text.len() > decimals + 1 {
            return None;
        }
        text.iter().for_each(|&byte| {
            digits[count] = byte - b'0';
            count += 1;
        });
        exponent = count as i32 - 1;
    } else {
        while digits[0] == 0 {
            digits[0] = next();
            exponent -= 1;
        }
        count = 1;
    }
    while count < decimals + 1 {
        digits[count] = next();
        count += 1;
    }
    // What is left is more than half a unit of the last digit, or just half, which goes to the even digit.
    let is_up = match (2 * fraction).cmp(&(1 << fraction_bits)) {
        Ordering::Less => false,
        Ordering::Equal => !digits[count - 1].is_multiple_of(2),
        Ordering::Greater => true,
    };
    if is_up {
        match digits[..count].iter().rposition(|&digit| digit < 9) {
            Some(at) => {
                digits[at] += 1;
                digits[at + 1..count].fill(0);
            }
            None => {
                digits[..count].fill(0);
                digits[0] = 1;
                exponent += 1;
            }
        }
    }
    let mut text = String::with_capacity(decimals + 8);
    if value.is_sign_negative() {
        text.push('-');
    }
    text.push((digits[0] + b'0') as char);
    if decimals > 0 {
        text.push('.');
        digits.iter_mut().for_each(|digit| *digit += b'0');
        push_ascii(&mut text, &digits[1..count]);
    }
    push_exponent(&mut text, exponent);
    Some(text)
}

/// Most decimals that `{scientific, N}` takes (from ERTS).
pub const MAX_SCIENTIFIC_DECIMALS: usize = 249;
/// Most decimals that `{decimals, N}` takes (from ERTS).
pub const MAX_DECIMALS: usize = 253;

/// As `scientific`, with stock's limits: None where it refuses.
pub fn scientific_limited(value: f64, decimals: usize) -> Option<String> {
    if decimals > MAX_SCIENTIFIC_DECIMALS {
        return None;
    }
    Some(scientific(value, decimals)).filter(|text| text.len() <= MAX_TEXT_BYTES)
}

/// Longest text that stock makes (its buffer has 256 bytes).
const MAX_TEXT_BYTES: usize = 255;

/// `[{decimals, Decimals}]`; `compact` drops zeros at the end but for the first decimal. None where stock refuses.
pub fn decimals(value: f64, decimals: usize, compact: bool) -> Option<String> {
    if decimals > MAX_DECIMALS {
        return None;
    }
    let (mut text, strip) = match fixed_point(value, decimals) {
        Some(text) => (text, compact && decimals > 0),
        // Here stock strips zeros even of a whole number without a point: 1.0e20 becomes "1".
        None => (format!("{value:.decimals$}"), compact),
    };
    if text.len() > MAX_TEXT_BYTES {
        return None;
    }
    if strip {
        let kept = text.trim_end_matches('0');
        let keep = if kept.ends_with('.') { kept.len() + 1 } else { kept.len() };
        text.truncate(keep);
    }
    Some(text)
}

/// Decimals from which stock leaves rounding to C.
const MANY_DECIMALS: usize = 19;

/// Stock's way for numbers up to 2^53: the fraction is scaled in floating point and rounded half up. None where it rounds
/// exactly instead.
fn fixed_point(value: f64, decimals: usize) -> Option<String> {
    let magnitude = value.abs();
    if decimals >= MANY_DECIMALS || magnitude > (1u64 << 53) as f64 {
        return None;
    }
    let scale = 10u64.pow(decimals as u32);
    let mut whole = magnitude as u64;
    let mut fraction = ((magnitude - whole as f64) * scale as f64).round() as u64;
    if fraction >= scale {
        whole += 1;
        fraction -= scale;
    }
    let mut text = String::with_capacity(MAX_SHORT_BYTES + decimals);
    if value.is_sign_negative() {
        text.push('-');
    }
    let mut room = [0; SMALL_TEXT_BYTES];
    push_ascii(&mut text, small_text(whole as i64, 10, &mut room));
    if decimals > 0 {
        text.push('.');
        let digits = small_text(fraction as i64, 10, &mut room);
        (digits.len()..decimals).for_each(|_| text.push('0'));
        push_ascii(&mut text, digits);
    }
    Some(text)
}

/// Longer than the shortest text of most floats.
const MAX_SHORT_BYTES: usize = 26;

fn push_ascii(text: &mut String, bytes: &[u8]) {
    text.push_str(std::str::from_utf8(bytes).unwrap_or_default());
}

/// `[short]`: the fewest digits that read back as the same float.
pub fn short(value: f64) -> String {
    let mut body = String::with_capacity(MAX_SHORT_BYTES);
    if value.is_sign_negative() {
        body.push('-');
    }
    if value == 0.0 {
        body.push_str("0.0");
        return body;
    }
    // Digits and exponent of the shortest form: d.ddd x 10^exponent.
    let mut text = String::with_capacity(MAX_SHORT_BYTES);
    // Text goes into a string without errors.
    let _ = write!(text, "{:e}", value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mut digits = String::with_capacity(MAX_SHORT_BYTES);
    let (first, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    digits.push_str(first);
    digits.push_str(fraction);
    round_tie_to_even(value, exponent, &mut digits);
    // Integers from 2^53 on are not all floats: decimal digits would claim more than is known.
    let exact_range = value.abs() < 9_007_199_254_740_992.0;
    if exact_range && plain_bytes(digits.len(), exponent) <= scientific_bytes(digits.len(), exponent) {
        push_plain(&mut body, &digits, exponent);
    } else {
        push_scientific(&mut body, &digits, exponent);
    }
    body
}

/// Bytes of `d.ddde-10`.
fn scientific_bytes(digits: usize, exponent: i32) -> usize {
    let sign = (exponent < 0) as usize;
    let exponent_digits = exponent.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1;
    digits.max(2) + 1 + 1 + sign + exponent_digits
}

fn push_scientific(body: &mut String, digits: &str, exponent: i32) {
    let fraction = if digits.len() > 1 { &digits[1..] } else { "0" };
    body.push_str(&digits[..1]);
    body.push('.');
    body.push_str(fraction);
    body.push('e');
    let mut room = [0; SMALL_TEXT_BYTES];
    push_ascii(body, small_text(exponent as i64, 10, &mut room));
}

/// Bytes of the digits with a point and the zeros that they need.
fn plain_bytes(digits: usize, exponent: i32) -> usize {
    if exponent < 0 {
        2 + (-exponent - 1) as usize + digits
    } else {
        digits.max(exponent as usize + 1) + 1 + (exponent as usize + 1 >= digits) as usize
    }
}

fn push_plain(body: &mut String, digits: &str, exponent: i32) {
    let zeros = |body: &mut String, count: usize| (0..count).for_each(|_| body.push('0'));
    let whole = exponent + 1;
    if whole <= 0 {
        body.push_str("0.");
        zeros(body, -whole as usize);
        body.push_str(digits);
    } else if whole as usize >= digits.len() {
        body.push_str(digits);
        zeros(body, whole as usize - digits.len());
        body.push_str(".0");
    } else {
        body.push_str(&digits[..whole as usize]);
        body.push('.');
        body.push_str(&digits[whole as usize..]);
    }
}

/// When the value lies just between two shortest texts, Rust takes the upper one and Ryu the even one.
fn round_tie_to_even(value: f64, exponent: i32, digits: &mut String) {
    let odd = digits.ends_with(['1', '3', '5', '7', '9']);
    if digits.len() < 15 || !odd {
        return;
    }
    // One digit more, and then enough to see that nothing follows.
    let exact = format!("{:.60e}", value.abs());
    let exact: String = exact.chars().take_while(|&c| c != 'e').filter(|&c| c != '.').collect();
    let (kept, rest) = exact.split_at(digits.len());
    if rest.trim_end_matches('0') == "5" && kept.ends_with(['0', '2', '4', '6', '8']) {
        // Below a power of two floats are closer: the even one may be another float's text.
        let same = format!("{}.{}e{exponent}", &kept[..1], &kept[1..]).parse() == Ok(value.abs());
        if same {
            *digits = kept.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Rust's own formatting makes of it, which rounds exactly.
    fn exact(value: f64, decimals: usize) -> String {
        let text = format!("{value:.decimals$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap();
        let exponent: i32 = exponent.parse().unwrap();
        format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
    }

    #[test]
    fn digits_are_those_of_exact_rounding() {
        let mut seed = 4711u64;
        let chosen =
            [0.5, 1.5, 2.5, 0.125, 9.5, 99.5, 9.999999, 0.1, 1e-18, 1e15, 123456.75, 0.0625, 4503599627370495.5, 1e22, 5e-324, f64::MAX];
        let random = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Exponents around zero, and a mantissa of few or many bits.
            let exponent = 1023 - 70 + (seed >> 20) % 130;
            f64::from_bits(exponent << 52 | (seed >> 12 & (u64::MAX << (seed % 50))) & ((1 << 52) - 1))
        });
        for value in chosen.into_iter().chain(random.take(20000)) {
            for decimals in [0, 1, 2, 3, 6, 15, 17, 20, 25, 31, 40] {
                assert_eq!(scientific(value, decimals), exact(value, decimals), "{value:e} {decimals}");
                assert_eq!(scientific(-value, decimals), exact(-value, decimals));
            }
        }
    }

    #[test]
    fn short_text_reads_back() {
        let cases = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-1.5, "-1.5"),
            (0.001, "0.001"),
            (1e-5, "1.0e-5"),
            (1.25e-7, "1.25e-7"),
            (123456.0, "123456.0"),
            (1e15, "1.0e15"),
            (1e22, "1.0e22"),
            (9007199254740992.0, "9007199254740992.0"),
            (471.25, "471.25"),
            (5e-324, "5.0e-324"),
        ];
        for (value, text) in cases {
            let made = short(value);
            assert_eq!(made.parse(), Ok(value), "{made}");
            if value.abs() < 9e15 {
                assert_eq!(made, text);
            }
        }
    }
}
