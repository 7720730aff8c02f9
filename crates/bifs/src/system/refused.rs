//! Natives that refuse: what they stand for is not in Heddle (yet). Each returns what stock returns for something that
//! is not supported.

use heddle_runtime::process::{NativeResult, Process};
use heddle_term::Term;

heddle_runtime::natives! { TABLE:
    "erts_trace_cleaner" => {
        "check"/0 => nothing_to_clean,
        "send_trace_clean_signal"/1 => nothing_to_clean,
    }
    "erts_debug" => {
        // As stock with its JIT, which has no listing either.
        "disassemble"/1 => unsupported,
        "interpreter_size"/0 => zero,
    }
}

fn unsupported(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::bool(false))
}

fn zero(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::small(0))
}

fn nothing_to_clean(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::bool(false))
}
