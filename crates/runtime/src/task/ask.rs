//! Natives that ask a task and wait for the answer. The answer comes as a signal and not as a message, so no queue is searched.

use super::context::Context;
use super::{Task, TaskNext, call, try_now};
use crate::Package;
use crate::process::proctab;
use crate::process::{NativeResult, Process, Thrown};
use crate::signal::send;
use heddle_term::Term;

/// Runs `f` in the task with the identity `to`, after everything that the caller sent it before. The result is the term that `f` returns,
/// or `gone` (an immediate) if there is no such task. If the task is busy, the native waits and is called again with another first
/// argument: it must look for an `answer` first.
pub fn ask<T: Task>(
    p: &mut Process,
    args: &[Term],
    to: u64,
    gone: Term,
    f: impl FnOnce(&mut T, &mut Context<'_>) -> (Package, TaskNext) + Send + 'static,
) -> NativeResult {
    let Some(task) = proctab::lookup(to) else { return Ok(gone) };
    let request = move |task: Option<&mut Process>| {
        let mut answer = Package::immediate(gone);
        if let Some(task) = task {
            call(task, |body: &mut T, context| {
                let (given, next) = f(body, context);
                answer = given;
                next
            });
        }
        answer
    };
    if let Some(mut entered) = try_now(task) {
        let answer = request(entered.process());
        drop(entered);
        return Ok(answer.unpack(&mut p.heap));
    }
    let me = p.pid();
    expect_answer(p);
    send::call_in(to, move |task| {
        answer_to(me, request(task));
    });
    Err(wait(p, args))
}

/// From now on an answer may come. Called before the request.
pub fn expect_answer(p: &mut Process) {
    p.rare().answer = None;
}

/// Sends the answer to the process that asked.
pub fn answer_to(asker: u64, answer: Package) {
    send::call_in(asker, move |asker| {
        if let Some(asker) = asker {
            asker.rare().answer = Some(answer);
        }
    });
}

/// Makes a native wait for an answer. It is called again with another first argument.
pub fn wait(p: &mut Process, args: &[Term]) -> Thrown {
    let mut again = args.to_vec();
    // A term that no program can pass.
    again[0] = Term::catch_marker(0);
    p.again(&again);
    Thrown::WaitAgain
}

/// The answer, if this native has asked before. If it is not there yet, the native waits again.
pub fn answer(p: &mut Process, args: &[Term]) -> Option<NativeResult> {
    if !args[0].is_catch_marker() {
        return None;
    }
    Some(match p.rare().answer.take() {
        Some(answer) => Ok(answer.unpack(&mut p.heap)),
        None => {
            p.again(args);
            Err(Thrown::WaitAgain)
        }
    })
}
