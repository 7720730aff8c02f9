//! Clocks and calendars.

use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::{refs, time};
use heddle_term::big::ArithError;
use heddle_term::{Heap, Kind, Term, am, big};

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "monotonic_time"/0 => monotonic_time_0,
        "monotonic_time"/1 => monotonic_time_1,
        "system_time"/0 => system_time_0,
        "system_time"/1 => system_time_1,
        "time_offset"/0 => time_offset_0,
        "time_offset"/1 => time_offset_1,
        "timestamp"/0 => timestamp,
        "now"/0 => now,
        "universaltime"/0 => universaltime,
        "localtime"/0 => localtime,
        "date"/0 => date,
        "time"/0 => time_0,
        "universaltime_to_localtime"/1 => universaltime_to_localtime,
        "localtime_to_universaltime"/2 => localtime_to_universaltime,
        "posixtime_to_universaltime"/1 => posixtime_to_universaltime,
        "universaltime_to_posixtime"/1 => universaltime_to_posixtime,
        "unique_integer"/0 => unique_integer_0,
        "unique_integer"/1 => unique_integer_1,
    }
    "erts_internal" => {
        "time_unit"/0 => time_unit,
        "perf_counter_unit"/0 => time_unit,
    }
    "os" => {
        "system_time"/0 => os_system_time_0,
        "system_time"/1 => os_system_time_1,
        "timestamp"/0 => os_timestamp,
        "perf_counter"/0 => perf_counter,
    }
}

const NS: i64 = 1_000_000_000;

/// Parts per second of a unit, or None.
fn parts(unit: Term) -> Option<i64> {
    if let Some(n) = unit.as_small() {
        return (n > 0).then_some(n);
    }
    Some(match unit.as_atom()? {
        am::SECOND | am::SECONDS => 1,
        am::MILLISECOND | am::MILLI_SECONDS => 1000,
        am::MICROSECOND | am::MICRO_SECONDS => 1_000_000,
        am::NANOSECOND | am::NANO_SECONDS | am::NATIVE | am::PERF_COUNTER => NS,
        _ => return None,
    })
}

fn convert(p: &mut Process, ns: i64, unit: Term) -> NativeResult {
    match parts(unit) {
        // The usual case, without a division of 128 bits.
        Some(parts) if NS % parts == 0 => Ok(p.heap.integer(ns.div_euclid(NS / parts))),
        Some(parts) => {
            let value = (ns as i128 * parts as i128).div_euclid(NS as i128);
            Ok(big::from_i128(&mut p.heap, value))
        }
        None if unit.kind() == Some(Kind::PosBig) => Ok(by_large_unit(&mut p.heap, ns, unit).expect("integers")),
        None => Err(p.badarg()),
    }
}

/// `ns * unit / NS`, rounded down.
#[cold]
fn by_large_unit(heap: &mut Heap, ns: i64, unit: Term) -> Result<Term, ArithError> {
    let time = heap.integer(ns);
    let mut product = big::mul(heap, time, unit)?;
    if ns < 0 {
        product = big::sub(heap, product, Term::small(NS - 1))?;
    }
    big::div(heap, product, Term::small(NS))
}

fn monotonic_time_0(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(p.heap.integer(time::monotonic_ns()))
}
fn monotonic_time_1(p: &mut Process, a: &[Term]) -> NativeResult {
    convert(p, time::monotonic_ns(), a[0])
}
fn system_time_0(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(p.heap.integer(time::system_ns()))
}
fn system_time_1(p: &mut Process, a: &[Term]) -> NativeResult {
    convert(p, time::system_ns(), a[0])
}
fn time_offset_0(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(p.heap.integer(time::offset_ns()))
}
fn time_offset_1(p: &mut Process, a: &[Term]) -> NativeResult {
    convert(p, time::offset_ns(), a[0])
}
fn os_system_time_0(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(p.heap.integer(time::os_system_ns()))
}
fn os_system_time_1(p: &mut Process, a: &[Term]) -> NativeResult {
    convert(p, time::os_system_ns(), a[0])
}
fn perf_counter(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(p.heap.integer(time::monotonic_ns() - time::START_NS))
}
fn time_unit(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::small(NS))
}

fn mega(p: &mut Process, us: i64) -> Term {
    p.heap.tuple(&[Term::small(us / 1_000_000_000_000), Term::small(us / 1_000_000 % 1_000_000), Term::small(us % 1_000_000)])
}
fn timestamp(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(mega(p, time::system_ns() / 1000))
}
fn os_timestamp(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(mega(p, time::os_system_ns() / 1000))
}
/// Strictly rising.
fn now(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(mega(p, time::unique_us()))
}

// ---- calendar ----

type Fields = [i64; 6];

/// Days since 1970-01-01 of a Gregorian date.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let yoe = y.rem_euclid(400);
    let doy = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468
}

fn civil(seconds: i64) -> Fields {
    let day = seconds.div_euclid(86_400);
    let rest = seconds.rem_euclid(86_400);
    let z = day + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    [year, month, doy - (153 * mp + 2) / 5 + 1, rest / 3600, rest / 60 % 60, rest % 60]
}

fn posix(f: Fields) -> i64 {
    days(f[0], f[1], f[2]) * 86_400 + f[3] * 3600 + f[4] * 60 + f[5]
}

fn fields_term(p: &mut Process, f: Fields) -> Term {
    let s = |i: usize| Term::small(f[i]);
    let date = p.heap.tuple(&[s(0), s(1), s(2)]);
    let time = p.heap.tuple(&[s(3), s(4), s(5)]);
    p.heap.tuple(&[date, time])
}

/// Years for which local time can be converted. Universal time reaches back further.
const LOCAL_YEARS: std::ops::Range<i64> = 1902..i32::MAX as i64;
const UNIVERSAL_YEARS: std::ops::Range<i64> = 1600..i32::MAX as i64;

/// {{Y,M,D},{H,M,S}} with everything in range.
fn fields(term: Term, years: std::ops::Range<i64>) -> Option<Fields> {
    let [date, time] = term.as_tuple()? else { return None };
    let ([y, m, d], [h, mi, s]) = (date.as_tuple()?, time.as_tuple()?) else { return None };
    let mut f = [0i64; 6];
    for (slot, t) in f.iter_mut().zip([y, m, d, h, mi, s]) {
        *slot = t.as_small()?;
    }
    let leap = f[0] % 4 == 0 && (f[0] % 100 != 0 || f[0] % 400 == 0);
    let month_days = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let ok = (1..=12).contains(&f[1])
        && (1..=*month_days.get(f[1] as usize - 1)?).contains(&f[2])
        && (0..24).contains(&f[3])
        && (0..60).contains(&f[4])
        && (0..60).contains(&f[5])
        && years.contains(&f[0]);
    ok.then_some(f)
}

fn local(seconds: i64) -> Fields {
    // SAFETY: libc fills the struct; localtime_r is thread safe.
    unsafe {
        let mut tm: libc::tm = std::mem::zeroed();
        libc::localtime_r(&seconds, &mut tm);
        [tm.tm_year as i64 + 1900, tm.tm_mon as i64 + 1, tm.tm_mday as i64, tm.tm_hour as i64, tm.tm_min as i64, tm.tm_sec as i64]
    }
}

fn universaltime(p: &mut Process, _: &[Term]) -> NativeResult {
    let f = civil(time::os_system_ns().div_euclid(NS));
    Ok(fields_term(p, f))
}
fn localtime(p: &mut Process, _: &[Term]) -> NativeResult {
    let f = local(time::os_system_ns().div_euclid(NS));
    Ok(fields_term(p, f))
}
fn date(p: &mut Process, a: &[Term]) -> NativeResult {
    Ok(localtime(p, a)?.slot(0))
}
fn time_0(p: &mut Process, a: &[Term]) -> NativeResult {
    Ok(localtime(p, a)?.slot(1))
}
fn universaltime_to_localtime(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(f) = fields(a[0], LOCAL_YEARS) else { return Err(p.badarg()) };
    let f = local(posix(f));
    Ok(fields_term(p, f))
}
fn localtime_to_universaltime(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(f) = fields(a[0], LOCAL_YEARS) else { return Err(p.badarg()) };
    let dst = match a[1].as_atom() {
        Some(am::TRUE) => 1,
        Some(am::FALSE) => 0,
        Some(am::UNDEFINED) => -1,
        _ => return Err(p.badarg()),
    };
    // SAFETY: mktime reads and writes the struct only.
    let seconds = unsafe {
        let mut tm: libc::tm = std::mem::zeroed();
        tm.tm_year = (f[0] - 1900) as i32;
        tm.tm_mon = f[1] as i32 - 1;
        tm.tm_mday = f[2] as i32;
        tm.tm_hour = f[3] as i32;
        tm.tm_min = f[4] as i32;
        tm.tm_sec = f[5] as i32;
        tm.tm_isdst = dst;
        libc::mktime(&mut tm)
    };
    let f = civil(seconds);
    Ok(fields_term(p, f))
}
fn posixtime_to_universaltime(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(seconds) = big::to_i64(a[0]) else { return Err(p.badarg()) };
    let f = civil(seconds);
    Ok(fields_term(p, f))
}
fn universaltime_to_posixtime(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(f) = fields(a[0], UNIVERSAL_YEARS) else { return Err(p.badarg()) };
    Ok(p.heap.integer(posix(f)))
}

// ---- unique integers ----

fn unique_integer_0(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(refs::unique_term(&mut p.heap, refs::unique()))
}
fn unique_integer_1(p: &mut Process, a: &[Term]) -> NativeResult {
    let (mut positive, mut monotonic) = (false, false);
    let mut options = a[0];
    while options.is_cons() {
        match options.head().as_atom() {
            Some(am::POSITIVE) => positive = true,
            Some(am::MONOTONIC) => monotonic = true,
            _ => return Err(p.badarg()),
        }
        options = options.tail();
    }
    if !options.is_nil() {
        return Err(p.badarg());
    }
    Ok(match (monotonic, positive) {
        (false, false) => refs::unique_term(&mut p.heap, refs::unique()),
        (false, true) => p.heap.unsigned(refs::unique() + 1),
        (true, false) => refs::unique_term(&mut p.heap, refs::unique_monotonic()),
        (true, true) => p.heap.unsigned(refs::unique_monotonic() + 1),
    })
}
