//! `data/bt.erl`, compiled for OTP 27 and (`+r24`) for OTP 24, prints what it prints on stock, also when every allocation collects.

use heddle_engine::{code_natives, install_natives, run};
use heddle_runtime::process::{NativeResult, Outcome, Process, SpawnOptions};
use heddle_runtime::sched::Engine;
use heddle_runtime::{natives, proctab, spawn, zeal};
use heddle_term::bits::BitsView;
use heddle_term::{Atom, Mfa, Term, am, order, text};
use std::sync::Mutex;

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

heddle_runtime::natives! { TABLE:
    "bt_host" => { "report"/1 => report, }
    "erlang" => { "byte_size"/1 => byte_size, "bit_size"/1 => bit_size, "=:="/2 => same, }
}

fn report(_: &mut Process, a: &[Term]) -> NativeResult {
    LINES.lock().unwrap().push(text::display::to_string(a[0]));
    Ok(am::OK.into())
}
fn byte_size(p: &mut Process, a: &[Term]) -> NativeResult {
    BitsView::of(a[0]).map(|v| Term::small(v.len_bytes() as i64)).ok_or_else(|| p.badarg())
}
fn bit_size(p: &mut Process, a: &[Term]) -> NativeResult {
    BitsView::of(a[0]).map(|v| Term::small(v.size_bits as i64)).ok_or_else(|| p.badarg())
}
fn same(_: &mut Process, a: &[Term]) -> NativeResult {
    Ok(order::exact_eq(a[0], a[1]).into())
}

fn check(beam: &[u8], expected: &str) {
    let module = code_natives::preload(beam).expect("loads");
    let mfa = Mfa { module, function: Atom::new("main"), arity: 0 };
    let p = spawn::create(mfa, Term::NIL, None, &SpawnOptions::default()).expect("a process");
    // SAFETY: the process was never published: it is ours alone.
    let p = unsafe { p.local() };
    let mut thread = run::Interpreter.new_thread();
    while let Outcome::Yield = thread.run(p, 4000).0 {}
    let got = std::mem::take(&mut *LINES.lock().unwrap());
    for (got, want) in got.iter().zip(expected.lines()) {
        assert_eq!(got, want);
    }
    assert_eq!(got.len(), expected.lines().count());
}

#[test]
fn prints_what_stock_prints() {
    run::init();
    proctab::init(1024, 1024);
    natives::register(TABLE);
    install_natives();
    for mode in ["", "gc"] {
        zeal::set(mode).expect("a mode");
        check(include_bytes!("data/bt_27.beam"), include_str!("data/bt.out"));
        check(include_bytes!("data/bt_24.beam"), include_str!("data/bt_24.out"));
    }
}
