//! Text to floats, as `erlang:list_to_float/1` and `binary_to_float/1` read them.

/// Optional sign, digits, point, digits, optional exponent. None if malformed or too large. Both sides of the point need
/// a digit. A comma is taken for a point, as in stock.
pub fn parse(text: &[u8]) -> Option<f64> {
    let rest = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    let [b'.' | b',', rest @ ..] = digits(rest)? else { return None };
    let rest = digits(rest)?;
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = exponent.strip_prefix(b"-").or(exponent.strip_prefix(b"+")).unwrap_or(exponent);
        if !digits(exponent)?.is_empty() {
            return None;
        }
    } else if !rest.is_empty() {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    let value: f64 = if text.contains(',') { text.replace(',', ".").parse() } else { text.parse() }.ok()?;
    value.is_finite().then_some(value)
}

/// What follows one or more digits.
fn digits(text: &[u8]) -> Option<&[u8]> {
    let count = text.iter().take_while(|b| b.is_ascii_digit()).count();
    (count > 0).then(|| &text[count..])
}
