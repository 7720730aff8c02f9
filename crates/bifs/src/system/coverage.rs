//! The natives of native coverage; `heddle_runtime::coverage` does the counting.

use heddle_abi::settings::CoverageMode;
use heddle_runtime::code::{self, Instance};
use heddle_runtime::coverage;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_term::term::SMALL_MAX;
use heddle_term::{Atom, Heap, Term, am};
use std::sync::Arc;

heddle_runtime::natives! { TABLE:
    "code" => {
        "coverage_support"/0 => coverage_support,
        "get_coverage_mode"/0 => get_coverage_mode,
        "get_coverage_mode"/1 => get_coverage_mode_of,
        "get_coverage"/2 => get_coverage,
        "reset_coverage"/1 => reset_coverage,
        "set_coverage_mode"/1 => set_coverage_mode,
    }
}

fn name_of(mode: CoverageMode) -> Term {
    Atom::new(mode.name()).into()
}

fn coverage_support(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::bool(true))
}

fn get_coverage_mode(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(name_of(coverage::current()))
}

fn set_coverage_mode(p: &mut Process, a: &[Term]) -> NativeResult {
    let mode = a[0].as_atom().and_then(|name| CoverageMode::named(name.name()));
    mode.map(|mode| name_of(coverage::set(mode))).ok_or_else(|| p.badarg())
}

fn loaded(p: &mut Process, module: Term) -> Result<Arc<Instance>, Thrown> {
    module.as_atom().and_then(code::current).ok_or_else(|| p.badarg())
}

fn get_coverage_mode_of(p: &mut Process, a: &[Term]) -> NativeResult {
    Ok(name_of(loaded(p, a[0])?.coverage.mode))
}

fn reset_coverage(p: &mut Process, a: &[Term]) -> NativeResult {
    if loaded(p, a[0])?.coverage.reset() { Ok(am::OK.into()) } else { Err(p.badarg()) }
}

/// A counter's value as a small integer.
fn count(value: u64) -> Term {
    Term::small(value.min(SMALL_MAX as u64) as i64)
}

fn get_coverage(p: &mut Process, a: &[Term]) -> NativeResult {
    let module = loaded(p, a[1])?;
    let (coverage, counts) = (&module.coverage, module.coverage.mode.counts());
    let figure = |value: u64, counts: bool| if counts { count(value) } else { Term::bool(value != 0) };
    let rows: Option<Vec<Term>> = match a[0].as_atom().map(Atom::name) {
        Some("function") => coverage.functions(&module.functions).map(|rows| {
            let counts = counts && coverage.mode.is_of_functions();
            rows.iter()
                .map(|(f, n)| {
                    let name = p.heap.tuple(&[f.name.into(), Term::small(f.arity as i64)]);
                    p.heap.tuple(&[name, figure(*n, counts)])
                })
                .collect()
        }),
        Some("line") => {
            coverage.lines().map(|rows| rows.iter().map(|(at, n)| pair(&mut p.heap, at.line as u64, figure(*n, counts))).collect())
        }
        Some("cover_id_line") if counts => {
            coverage.lines().map(|rows| rows.iter().map(|(at, n)| pair(&mut p.heap, at.id, count(*n))).collect())
        }
        _ => None,
    };
    rows.map(|rows| p.heap.list(&rows)).ok_or_else(|| p.badarg())
}

fn pair(heap: &mut Heap, number: u64, figure: Term) -> Term {
    heap.tuple(&[count(number), figure])
}
