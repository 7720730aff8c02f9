//! NIFs in Rust for `tests/erl/rustler_calls.erl`: terms of each kind there and back, errors and panics, dirty NIFs, resources with
//! destructors and monitors, and messages from threads that the emulator does not know.

use rustler::types::binary::{NewBinary, OwnedBinary};
use rustler::types::list::ListIterator;
use rustler::types::map::MapIterator;
use rustler::{
    Atom, BigInt, Binary, Encoder, Env, Error, LocalPid, Monitor, NifMap, NifResult, NifTaggedEnum, NifTuple, NifUnitEnum, OwnedEnv,
    Reference, Resource, ResourceArc, Term,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

mod atoms {
    rustler::atoms! { ok, odd_one, down, sum, from_thread, from_scheduler }
}

// Terms.

#[rustler::nif]
fn add(a: i64, b: i64) -> i64 {
    a.wrapping_add(b)
}

#[rustler::nif]
fn half(x: f64) -> f64 {
    x / 2.0
}

#[rustler::nif]
fn square(x: BigInt) -> BigInt {
    x.clone() * x
}

#[rustler::nif]
fn shout(text: &str) -> String {
    text.to_uppercase()
}

#[rustler::nif]
fn reversed<'a>(env: Env<'a>, bytes: Binary<'a>) -> Binary<'a> {
    let mut new = NewBinary::new(env, bytes.len());
    for (to, from) in new.iter_mut().zip(bytes.iter().rev()) {
        *to = *from;
    }
    new.into()
}

/// A part of the binary, which shares its bytes.
#[rustler::nif]
fn part<'a>(bytes: Binary<'a>, from: usize, len: usize) -> NifResult<Binary<'a>> {
    bytes.make_subbinary(from, len)
}

/// A binary that was made with room for `len` bytes and then made smaller or larger.
#[rustler::nif]
fn resized<'a>(env: Env<'a>, len: usize, then: usize) -> Binary<'a> {
    let mut bytes = OwnedBinary::new(len);
    bytes.as_mut_slice().fill(7);
    let kept = len.min(then);
    if !bytes.realloc(then) {
        bytes.realloc_or_copy(then);
    }
    bytes.as_mut_slice()[kept..].fill(9);
    bytes.release(env)
}

#[rustler::nif]
fn total(numbers: ListIterator) -> NifResult<i64> {
    numbers.map(|n| n.decode::<i64>()).sum()
}

#[rustler::nif]
fn swapped<'a>(env: Env<'a>, map: MapIterator<'a>) -> NifResult<Term<'a>> {
    map.map(|(key, value)| (value, key)).try_fold(Term::map_new(env), |map, (key, value)| map.map_put(key, value))
}

#[derive(NifMap)]
struct Point {
    x: i64,
    y: i64,
}

#[derive(NifTuple)]
struct Pair {
    first: i64,
    second: String,
}

#[derive(NifUnitEnum)]
enum Colour {
    Red,
    Green,
}

#[derive(NifTaggedEnum)]
enum Shape {
    Nothing,
    Circle(f64),
    Box { width: i64, height: i64 },
}

#[rustler::nif]
fn mirrored(point: Point) -> Point {
    Point { x: point.y, y: point.x }
}

#[rustler::nif]
fn counted(pair: Pair) -> Pair {
    Pair { first: pair.first + pair.second.len() as i64, second: pair.second }
}

#[rustler::nif]
fn other(colour: Colour) -> Colour {
    match colour {
        Colour::Red => Colour::Green,
        Colour::Green => Colour::Red,
    }
}

#[rustler::nif]
fn area(shape: Shape) -> f64 {
    match shape {
        Shape::Nothing => 0.0,
        Shape::Circle(radius) => radius * radius * 3.0,
        Shape::Box { width, height } => (width * height) as f64,
    }
}

/// What rustler says of the kind of a term.
#[rustler::nif]
fn kind(term: Term) -> String {
    format!("{:?}", term.get_type())
}

/// How the term is written.
#[rustler::nif]
fn written(term: Term) -> String {
    format!("{term:?}")
}

#[rustler::nif]
fn sorted(terms: Vec<Term>) -> Vec<Term> {
    let mut terms = terms;
    terms.sort();
    terms
}

#[rustler::nif]
fn external<'a>(env: Env<'a>, term: Term<'a>) -> NifResult<(Binary<'a>, Term<'a>)> {
    let bytes = term.to_binary().release(env);
    let (again, used) = env.binary_to_term(bytes.as_slice()).ok_or(Error::BadArg)?;
    if used == bytes.len() { Ok((bytes, again)) } else { Err(Error::BadArg) }
}

#[rustler::nif]
fn unique<'a>(env: Env<'a>) -> Reference<'a> {
    env.make_ref()
}

// Errors.

#[rustler::nif]
fn even(n: i64) -> Result<i64, Atom> {
    if n % 2 == 0 { Ok(n) } else { Err(atoms::odd_one()) }
}

#[rustler::nif]
fn raises(how: i64) -> NifResult<i64> {
    match how {
        0 => Err(Error::BadArg),
        1 => Err(Error::Atom("an_atom")),
        2 => Err(Error::RaiseAtom("raised")),
        3 => Err(Error::RaiseTerm(Box::new(("raised", 3)))),
        4 => Err(Error::Term(Box::new(("returned", 4)))),
        _ => panic!("a NIF that panics"),
    }
}

// Dirty NIFs.

#[rustler::nif(schedule = "DirtyCpu")]
fn fibonacci(n: u32) -> u64 {
    fn slow(n: u32) -> u64 {
        if n < 2 { n as u64 } else { slow(n - 1) + slow(n - 2) }
    }
    slow(n)
}

#[rustler::nif(schedule = "DirtyIo")]
fn file_size(path: String) -> Result<u64, String> {
    std::fs::metadata(path).map(|m| m.len()).map_err(|e| e.kind().to_string())
}

#[rustler::nif(schedule = "DirtyCpu")]
fn panics_dirty() -> i64 {
    panic!("a dirty NIF that panics")
}

// Resources.

/// How many counters there are.
static LIVE: AtomicI64 = AtomicI64::new(0);

struct Counter {
    value: Mutex<i64>,
    /// The process that hears when a process that the counter watches ends.
    owner: LocalPid,
    watched: Mutex<Vec<Monitor>>,
}

#[rustler::resource_impl]
impl Resource for Counter {
    const IMPLEMENTS_DOWN: bool = true;

    fn down<'a>(&'a self, env: Env<'a>, pid: LocalPid, monitor: Monitor) {
        let was_watched = {
            let mut watched = self.watched.lock().unwrap();
            let before = watched.len();
            watched.retain(|m| *m != monitor);
            watched.len() < before
        };
        let _ = env.send(&self.owner, (atoms::down(), pid, was_watched, *self.value.lock().unwrap()));
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

#[rustler::nif]
fn new(env: Env, value: i64) -> ResourceArc<Counter> {
    LIVE.fetch_add(1, Ordering::SeqCst);
    ResourceArc::new(Counter { value: Mutex::new(value), owner: env.pid(), watched: Mutex::default() })
}

#[rustler::nif]
fn bump(counter: ResourceArc<Counter>, by: i64) -> i64 {
    let mut value = counter.value.lock().unwrap();
    *value += by;
    *value
}

#[rustler::nif]
fn watch(env: Env, counter: ResourceArc<Counter>, pid: LocalPid) -> bool {
    let mut watched = counter.watched.lock().unwrap();
    match counter.monitor(Some(env), &pid) {
        Some(monitor) => {
            watched.push(monitor);
            true
        }
        None => false,
    }
}

#[rustler::nif]
fn forget(env: Env, counter: ResourceArc<Counter>) -> Vec<bool> {
    let watched: Vec<Monitor> = std::mem::take(&mut *counter.watched.lock().unwrap());
    watched.iter().map(|m| counter.demonitor(Some(env), m)).collect()
}

/// A binary whose bytes the resource keeps: the text of its value.
struct Text(String);

#[rustler::resource_impl]
impl Resource for Text {}

#[rustler::nif]
fn text<'a>(env: Env<'a>, counter: ResourceArc<Counter>) -> Binary<'a> {
    let text = ResourceArc::new(Text(counter.value.lock().unwrap().to_string().repeat(100)));
    text.make_binary(env, |text| text.0.as_bytes())
}

#[rustler::nif]
fn live() -> i64 {
    LIVE.load(Ordering::SeqCst)
}

// Threads.

/// `threads` threads of the system send `(from_thread, their number, the sum of the numbers)` to the caller, with an environment each.
#[rustler::nif]
fn sums<'a>(env: Env<'a>, threads: i64, numbers: Term<'a>) -> Atom {
    for number in 0..threads {
        let pid = env.pid();
        let environment = OwnedEnv::new();
        let saved = environment.save(numbers);
        std::thread::spawn(move || {
            let mut environment = environment;
            let _ = environment.send_and_clear(&pid, |env| {
                let sum: i64 = saved.load(env).decode::<Vec<i64>>().unwrap().iter().sum();
                (atoms::from_thread(), number, (atoms::sum(), sum)).encode(env)
            });
        });
    }
    atoms::ok()
}

/// A thread that panics: the caller gets `{error, Text}`.
#[rustler::nif]
fn thread_that_panics(env: Env) -> Atom {
    rustler::thread::spawn::<rustler::thread::ThreadSpawner, _>(env, |_| panic!("a thread that panics"));
    atoms::ok()
}

/// A message from the NIF itself.
#[rustler::nif]
fn tell<'a>(env: Env<'a>, pid: LocalPid, term: Term<'a>) -> bool {
    env.send(&pid, (atoms::from_scheduler(), term)).is_ok()
}

#[rustler::nif]
fn is_scheduler(env: Env) -> (bool, bool) {
    (rustler::thread::is_scheduler_thread(), rustler::schedule::consume_timeslice(env, 1))
}

fn load(_: Env, info: Term) -> bool {
    // The panics here are meant: no text on standard error.
    std::panic::set_hook(Box::new(|_| ()));
    info.decode::<i64>().is_ok_and(|release| release == 27)
}

rustler::init!("rustler_calls", load = load);
