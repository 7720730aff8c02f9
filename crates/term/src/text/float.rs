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

/// `[{decimals, Decimals}]`; `compact` drops zeros at the end but for the first decimal. None where stock refuses: the text
/// would need more than its buffer.
pub fn decimals(value: f64, decimals: usize, compact: bool) -> Option<String> {
    if decimals > MAX_DECIMALS {
        return None;
    }
    let mut text = fixed(value, decimals);
    if text.len() >= 256 {
        return None;
    }
    if compact && decimals > 0 {
        let kept = text.trim_end_matches('0');
        let keep = if kept.ends_with('.') { kept.len() + 1 } else { kept.len() };
        text.truncate(keep);
    }
    Some(text)
}

/// Stock rounds the scaled fraction half up in binary floating point while the number is small; otherwise as C does.
fn fixed(value: f64, decimals: usize) -> String {
    format!("{value:.decimals$}")
}

/// `[short]`: the fewest digits that read back as the same float.
pub fn short(value: f64) -> String {
    // Digits and exponent of the shortest form: d.ddd x 10^exponent.
    let text = format!("{:e}", value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(|&c| c != '.').collect();
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
