//! Sending and receiving.
//!
//! `loop_rec` reads the message at the save position. At the end of the queue it handles the signals in the inbox. Only if that brings no
//! message does it go to its label, where `wait` or `wait_timeout` stands.

use crate::collect::{make_room, tidy};
use crate::ctx::{Ctx, OUT_EXIT, OUT_WAIT, any, put};
use crate::ops::errors::raise;
use crate::{goto, load, next, ops, save};
use heddle_runtime::CollectionKind;
use heddle_runtime::process::{Exception, Stand};
use heddle_runtime::timer::ReceivePhase;
use heddle_runtime::trace::{events, flags, meters, seq};
use heddle_runtime::{handle, heap_growth, held_regions, long_gc, sched, send, small, system_monitor};
use heddle_term::copy::flat_size;
use heddle_term::{Atom, Export, Term, am};

ops! {
    // export of erlang:'!'/2. X0 ! X1, result in X0.
    fn send(ip, c, h, s, r) {
        let code = do_send(c, h, s);
        load!(c, h, s);
        if code == 0 {
            (*c).x[0] = (*c).x[1];
            r -= 1 + std::mem::take(&mut (*(*c).p).extra_reductions) as i64;
            next!(ip, c, h, s, r; 2)
        }
        return send_failed(ip, c, h, s, r);
    }
    // No such name, or the destination needs more than an instruction can do: the native does it.
    #[cold]
    #[inline(never)]
    fn send_failed(ip, c, h, s, r) {
        let export = &*(*ip.add(1) as *const Export);
        let target = crate::native_code::entry(export);
        s = s.sub(1);
        *s = crate::ctx::continuation(ip.add(2));
        goto!(target, c, h, s, r)
    }
    // label, (dst is X0)
    fn loop_rec(ip, c, h, s, r) {
        if let Some(message) = (*(*c).p).messages.seen() {
            (*c).x[0] = message;
            next!(ip, c, h, s, r; 2)
        }
        return loop_rec_unseen(ip, c, h, s, r);
    }
    // A message whose data is not in the heap, or the end of the queue. (Apart: what calls saves registers first.)
    #[inline(never)]
    fn loop_rec_unseen(ip, c, h, s, r) {
        // Signals may ask for the process' place. That must not be where its slice began, which may be old code by now.
        (*(*c).p).ip = ip;
        let code = peek(c, h, s);
        load!(c, h, s);
        match code {
            PEEKED => { next!(ip, c, h, s, r; 2) }
            EMPTY => { goto!(*ip.add(1) as *const u64, c, h, s, r) }
            _ => { (*c).left = r; return OUT_EXIT }
        }
    }
    // label of the loop_rec
    fn loop_rec_end(ip, c, h, s, r) {
        (*(*c).p).messages.skip();
        r -= 1;
        let target = *ip.add(1) as *const u64;
        if r > 0 {
            goto!(target, c, h, s, r)
        }
        // A long queue must not hold the scheduler.
        let p = save!(c, h, s);
        p.ip = target;
        p.saved.clear();
        crate::ctx::OUT_YIELD
    }
    fn remove_message(ip, c, h, s, r) {
        let p = &mut *(*c).p;
        if events::on(p.shared(), flags::TOKEN | flags::LONG_QUEUE | flags::METERED)
            || (p.timer.phase != ReceivePhase::None && !p.timer.set_aside())
            || !p.messages.remove_plain()
        {
            return remove_other(ip, c, h, s, r);
        }
        next!(ip, c, h, s, r; 1)
    }
    // An unusual message, or one with a tracer, or a timer must be cancelled.
    #[inline(never)]
    fn remove_other(ip, c, h, s, r) {
        let p = &mut *(*c).p;
        if events::on(p.shared(), flags::TOKEN | flags::LONG_QUEUE | flags::METERED) | p.messages.has_token() {
            follow_token(c);
        }
        p.messages.remove();
        if p.timer.phase != ReceivePhase::None && !p.timer.set_aside() {
            cancel_timer(c);
        }
        next!(ip, c, h, s, r; 1)
    }
    // label of the loop_rec
    fn wait(ip, c, h, s, r) {
        let p = save!(c, h, s);
        p.ip = *ip.add(1) as *const u64;
        p.saved.clear();
        p.shared().state.clear_active();
        if !p.shared().state.has_signals() {
            return switch_waiting(ip, c, h, s, r);
        }
        let code = drain_waiting(c);
        load!(c, h, s);
        if code == ENDED {
            (*c).left = r;
            return OUT_EXIT;
        }
        goto!(*ip.add(1) as *const u64, c, h, s, r)
    }
    #[cold]
    fn switch_waiting(ip, c, h, s, r) {
        let p = &mut *(*c).p;
        if heap_growth::is_enlarged(p) {
            long_gc::shrink(p);
        }
        crate::collect::tidy_saved(p);
        (*c).left = r;
        OUT_WAIT
    }
    // label of the loop_rec, timeout
    fn wait_timeout(ip, c, h, s, r) {
        let timer = &mut (*(*c).p).timer;
        if timer.phase != ReceivePhase::None {
            return wait_again(ip, c, h, s, r);
        }
        if let Some(ms @ 1..=MAX_MS) = any(*ip.add(2), c, s).as_small()
            && timer.set_again(ms as u64)
        {
            return wait(ip, c, h, s, r);
        }
        return first_timeout(ip, c, h, s, r);
    }
    fn wait_again(ip, c, h, s, r) {
        if (*(*c).p).timer.phase == ReceivePhase::Fired {
            next!(ip, c, h, s, r; 3)
        }
        return wait(ip, c, h, s, r);
    }
    #[cold]
    fn first_timeout(ip, c, h, s, r) {
        match arm(ip, c, h, s) {
            FIRED => { next!(ip, c, h, s, r; 3) }
            ARMED => return wait(ip, c, h, s, r),
            _ => return bad_timeout(ip, c, h, s, r),
        }
    }
    #[cold]
    fn bad_timeout(ip, c, h, s, r) {
        let p = save!(c, h, s);
        // The next receive starts at the first message.
        p.messages.restart();
        p.exception = Exception { reason: am::TIMEOUT_VALUE.into(), ..Exception::NONE };
        return raise(ip, c, h, s, r);
    }
    fn timeout(ip, c, h, s, r) {
        timed_out(c, h, s);
        (*(*c).p).messages.restart();
        next!(ip, c, h, s, r; 1)
    }

    // reg
    fn recv_marker_reserve(ip, c, h, s, r) {
        let number = (*(*c).p).messages.marker_reserve();
        put(*ip.add(1), c, s, Term::small(number as i64));
        next!(ip, c, h, s, r; 2)
    }
    // marker reg, reference
    fn recv_marker_bind(ip, c, h, s, r) {
        let (marker, reference) = (any(*ip.add(1), c, s), any(*ip.add(2), c, s));
        (*(*c).p).messages.marker_bind(marker.small_value() as u32, reference);
        next!(ip, c, h, s, r; 3)
    }
    // reference
    fn recv_marker_clear(ip, c, h, s, r) {
        let reference = any(*ip.add(1), c, s);
        (*(*c).p).messages.marker_clear(reference);
        next!(ip, c, h, s, r; 2)
    }
    // reference
    fn recv_marker_use(ip, c, h, s, r) {
        let reference = any(*ip.add(1), c, s);
        (*(*c).p).messages.marker_use(reference);
        next!(ip, c, h, s, r; 2)
    }
}

const PEEKED: u64 = 0;
const EMPTY: u64 = 1;
const ENDED: u64 = 2;
const FIRED: u64 = 0;
const ARMED: u64 = 1;
const BAD: u64 = 2;

#[inline(never)]
unsafe fn do_send(c: *mut Ctx, h: *mut u64, s: *mut u64) -> u64 {
    // SAFETY: the registers hold terms.
    unsafe {
        let p = save!(c, h, s);
        let dest = (*c).x[0];
        // Local pids are the common case; everything else goes through the native, which knows all errors.
        if !dest.is_local_pid() {
            return 1;
        }
        let sent = send::send(p, dest, (*c).x[1]);
        debug_assert_eq!(sent, send::Sent::Ok);
        0
    }
}

/// Handles the inbox of a process that is about to wait; the tops are saved.
#[inline(never)]
unsafe fn drain_waiting(c: *mut Ctx) -> u64 {
    // SAFETY: the running process is ours.
    unsafe {
        let p = &mut *(*c).p;
        p.stand = Stand::Waits;
        let after = handle::drain(p);
        p.stand = Stand::Runs;
        if after == handle::After::Exit { ENDED } else { EMPTY }
    }
}

/// Puts the next message in X0.
#[inline(never)]
unsafe fn peek(c: *mut Ctx, h: *mut u64, s: *mut u64) -> u64 {
    // SAFETY: the running process is ours.
    unsafe {
        let p = save!(c, h, s);
        loop {
            let is_full = p.free_words() < small::WORDS as isize && p.messages.next_is_small();
            if is_full && !long_gc::is_long(p, CollectionKind::Automatic) {
                // Otherwise the message would be put beside the heap, and the heap be collected for it soon anyway. (A collection that
                // takes long is left to that.)
                make_room(c, small::WORDS, 0);
            }
            let metered = meters::on(p);
            let before = if metered { p.heap.htop as usize / 8 + p.heap.fragment_words } else { 0 };
            if let Some(message) = p.messages.peek(&mut p.heap, &mut p.held_words) {
                if metered {
                    meters::message(p, p.heap.htop as usize / 8 + p.heap.fragment_words - before, false);
                }
                (*c).x[0] = message;
                if heddle_runtime::zeal::gc()
                    || p.heap.fragment_words > p.heap_words()
                    || p.heap.off_heap.virtual_words > p.vheap_limit_words
                    || held_regions::pays(p)
                {
                    tidy(c, 1);
                }
                return PEEKED;
            }
            if !p.shared().state.has_signals() {
                return EMPTY;
            }
            if handle::drain(p) == handle::After::Exit {
                return ENDED;
            }
            if p.messages.is_empty() && !p.shared().state.has_signals() {
                return EMPTY;
            }
        }
    }
}

/// Maximum timeout.
const MAX_MS: i64 = 0xffff_ffff;

/// Sets the timer. The process has none now.
#[inline(never)]
unsafe fn arm(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64) -> u64 {
    // SAFETY: cells as emitted by the loader.
    unsafe {
        let p = save!(c, h, s);
        let timeout = any(*ip.add(2), c, s);
        if timeout.is_atom_of(am::INFINITY) {
            p.timer.phase = ReceivePhase::Never;
            return ARMED;
        }
        match timeout.as_small() {
            Some(0) => FIRED,
            Some(ms @ 1..=MAX_MS) => {
                sched::set_receive_timer(p, ms as u64);
                ARMED
            }
            _ => BAD,
        }
    }
}

#[inline(never)]
unsafe fn timed_out(c: *mut Ctx, h: *mut u64, s: *mut u64) {
    // SAFETY: the running process is ours.
    unsafe {
        let p = save!(c, h, s);
        if events::on(p.shared(), flags::RECEIVE) {
            events::receive(p, am::CLOCK_SERVICE.into(), Atom::new("timeout").into());
        }
        sched::cancel_receive_timer(p);
    }
}

/// Sequential tracing: the message that is taken out brings a token or removes the process' one. The queue also gets shorter, which
/// `system_monitor` may report.
#[cold]
#[inline(never)]
unsafe fn follow_token(c: *mut Ctx) {
    // SAFETY: the running process is ours, and a message is at the save position.
    unsafe {
        let p = &mut *(*c).p;
        let message = p.messages.term_at_save();
        seq::follow(p);
        if events::on(p.shared(), flags::LONG_QUEUE) {
            system_monitor::shrinks(p);
        }
        if meters::on(p) {
            meters::message(p, flat_size(message), true);
        }
    }
}

#[inline(never)]
unsafe fn cancel_timer(c: *mut Ctx) {
    // SAFETY: the running process is ours.
    unsafe { sched::cancel_receive_timer(&mut *(*c).p) }
}
