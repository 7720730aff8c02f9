//! Floats to text, as `erlang:float_to_list/1,2` writes them.

/// `float_to_list(F)` is `scientific(F, 20)`; also `[{scientific, Decimals}]`: C's `%.*e`, exactly rounded.
pub fn scientific(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$e}");
    // Rust writes `1.5e7`; C writes a sign and at least two digits.
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
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
    let sign = if value.is_sign_negative() { "-" } else { "" };
    Some(if decimals == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction:0decimals$}") })
}

/// `[short]`: the fewest digits that read back as the same float.
pub fn short(value: f64) -> String {
    // Digits and exponent of the shortest form: d.ddd x 10^exponent.
    let text = format!("{:e}", value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mut digits: String = mantissa.chars().filter(|&c| c != '.').collect();
    round_tie_to_even(value, exponent, &mut digits);
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value == 0.0 {
        return format!("{sign}0.0");
    }
    let scientific_form = {
        let fraction = if digits.len() > 1 { &digits[1..] } else { "0" };
        format!("{}.{}e{}", &digits[..1], fraction, exponent)
    };
    let plain = plain_form(&digits, exponent);
    // Integers from 2^53 on are not all floats: decimal digits would claim more than is known.
    let exact_range = value.abs() < 9_007_199_254_740_992.0;
    let body = if exact_range && plain.len() <= scientific_form.len() { plain } else { scientific_form };
    format!("{sign}{body}")
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

fn plain_form(digits: &str, exponent: i32) -> String {
    let len = digits.len() as i32;
    if exponent < 0 {
        let zeros = "0".repeat((-exponent - 1) as usize);
        format!("0.{zeros}{digits}")
    } else if exponent + 1 >= len {
        let zeros = "0".repeat((exponent + 1 - len) as usize);
        format!("{digits}{zeros}.0")
    } else {
        let point = (exponent + 1) as usize;
        format!("{}.{}", &digits[..point], &digits[point..])
    }
}
