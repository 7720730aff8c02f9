//! The functions of `erl_tracer`, the module of tracers that are processes or ports, for programs that call them. The VM itself does not.

use heddle_runtime::Package;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::trace::{emit, flags, tracer};
use heddle_term::{Atom, Term, am, map};

heddle_runtime::natives! { TABLE:
    "erl_tracer" => {
        "enabled"/3 => enabled,
        "trace"/5 => trace,
    }
}

fn atom(name: &str) -> Term {
    Atom::new(name).into()
}

/// (Tag, Tracer, Tracee): `trace`, `discard` or `remove`.
fn enabled(_: &mut Process, a: &[Term]) -> NativeResult {
    let is_status = a[0].is_atom_of(Atom::new("trace_status"));
    Ok(match tracer::exists(a[1]) {
        true if a[1] == a[2] => atom("discard"),
        true => atom("trace"),
        false if is_status => atom("remove"),
        false => atom("discard"),
    })
}

/// (Tag, Tracer, Tracee, Term, Options): sends the trace message.
fn trace(p: &mut Process, a: &[Term]) -> NativeResult {
    let [tag, tracer, tracee, term, options] = *a else { unreachable!("five arguments") };
    if !tracer::exists(tracer) {
        return Ok(am::OK.into());
    }
    let option = |name: &str| if options.is_map() { map::get(options, atom(name)) } else { None };
    let how = match option("timestamp").and_then(|t| t.as_atom()).map(|t| t.name()) {
        Some("timestamp" | "cpu_timestamp") => flags::TIMESTAMP,
        Some("monotonic") => flags::named("monotonic_timestamp").unwrap_or(0),
        Some("strict_monotonic") => flags::named("strict_monotonic_timestamp").unwrap_or(0),
        _ => 0,
    };
    let is_sequential = tag.is_atom_of(Atom::new("seq_trace"));
    let mut all = match option("extra") {
        None if is_sequential => vec![tag, tracee, term],
        extra => [atom(if how == 0 { "trace" } else { "trace_ts" }), tracee, tag, term].into_iter().chain(extra).collect(),
    };
    all.extend(option("match_spec_result"));
    all.extend(option("scheduler_id"));
    let message = Package::build(|heap| {
        if how != 0 {
            all.push(emit::timestamp(heap, how));
        }
        heap.tuple(&all)
    });
    emit::deliver(tracer, message.term());
    p.bump(1);
    Ok(am::OK.into())
}
