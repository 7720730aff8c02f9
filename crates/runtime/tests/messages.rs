//! Messages on their way from the inbox to the queue of a process, without an engine.

mod running;

use heddle_runtime::package::Package;
use heddle_runtime::process::Process;
use heddle_runtime::signal::{Signal, SignalBody};
use heddle_runtime::state::Taken;
use heddle_runtime::{handle, proctab, qsbr};
use heddle_term::Term;

fn message(n: i64) -> Box<Signal> {
    Signal::message(Package::immediate(Term::small(n)))
}

/// What `receive` sees, one after another.
fn take_all(p: &mut Process) -> Vec<i64> {
    std::iter::from_fn(|| p.messages.take())
        .map(|signal| match &signal.body {
            SignalBody::Message { data, .. } => data.term().as_small().unwrap(),
            _ => panic!("no message"),
        })
        .collect()
}

/// A process may be taken from its run queue although nothing came: what it had in its queue stays there, before what comes later.
#[test]
fn messages_stay_in_order_however_many_come_at_a_time() {
    proctab::init(1024, 1024);
    qsbr::online();
    let shared = running::process(100);
    // SAFETY: this thread made it, and runs it alone.
    let p = unsafe { shared.local() };
    let (mut next, mut looks) = (0, 0);
    for at_once in [1, 0, 3, 0, 0, 1, 40, 0, 2] {
        for _ in 0..at_once {
            assert!(shared.state.push(message(next)).is_ok());
            next += 1;
        }
        let _ = shared.state.stop_running(true, false);
        let Taken::Run(arrived) = shared.state.start_running() else { panic!("it is to run") };
        looks += arrived.is_empty() as u32;
        assert!(handle::receive(p, arrived) == handle::After::Continue);
        assert_eq!(p.messages.len() as i64, next);
    }
    assert_eq!(looks, 4);
    assert_eq!(take_all(p), (0..next).collect::<Vec<_>>());
    // What is no message goes between messages to where it belongs.
    for signal in [message(1), Signal::new(SignalBody::Wake), message(2)] {
        assert!(shared.state.push(signal).is_ok());
    }
    assert!(handle::drain(p) == handle::After::Continue);
    assert_eq!(take_all(p), [1, 2]);
    assert!(p.messages.is_empty());
    running::end(shared);
    qsbr::offline();
}
