//! Module `math`: the C library's functions, so that results agree to the last bit.

use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_term::{Term, big};

macro_rules! c_functions {
    ($($name:ident / $arity:tt = $text:literal),* $(,)?) => {
        mod c {
            unsafe extern "C" { $(c_functions!(@declare $name $arity);)* }
        }
        $(c_functions!(@define $name $arity);)*
        heddle_runtime::natives! { TABLE: "math" => { $($text / $arity => $name),* } }
    };
    (@declare $name:ident 1) => { pub safe fn $name(x: f64) -> f64; };
    (@declare $name:ident 2) => { pub safe fn $name(x: f64, y: f64) -> f64; };
    (@define $name:ident 1) => {
        fn $name(p: &mut Process, a: &[Term]) -> NativeResult {
            let x = number(p, a[0])?;
            finite(p, c::$name(x))
        }
    };
    (@define $name:ident 2) => {
        fn $name(p: &mut Process, a: &[Term]) -> NativeResult {
            let x = number(p, a[0])?;
            let y = number(p, a[1])?;
            finite(p, c::$name(x, y))
        }
    };
}

c_functions! {
    acos/1 = "acos", acosh/1 = "acosh", asin/1 = "asin", asinh/1 = "asinh", atan/1 = "atan", atan2/2 = "atan2",
    atanh/1 = "atanh", ceil/1 = "ceil", cos/1 = "cos", cosh/1 = "cosh", erf/1 = "erf", erfc/1 = "erfc", exp/1 = "exp",
    floor/1 = "floor", fmod/2 = "fmod", log/1 = "log", log10/1 = "log10", log2/1 = "log2", pow/2 = "pow", sin/1 = "sin",
    sinh/1 = "sinh", sqrt/1 = "sqrt", tan/1 = "tan", tanh/1 = "tanh",
}

fn number(p: &mut Process, term: Term) -> Result<f64, Thrown> {
    match term.as_float().or_else(|| big::to_f64(term)) {
        Some(value) => Ok(value),
        None if term.is_integer() => Err(p.badarith()),
        None => Err(p.badarg()),
    }
}

fn finite(p: &mut Process, value: f64) -> NativeResult {
    if value.is_finite() { Ok(p.heap.float(value)) } else { Err(p.badarith()) }
}
