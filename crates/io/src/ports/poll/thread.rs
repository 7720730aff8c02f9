//! The poll thread: waits in its own set, and looks at that of the schedulers while `backup::look` wants it.

use super::Sets;
use heddle_runtime::msacc::{self, ThreadState};
use heddle_runtime::qsbr;
use heddle_runtime::sched::backup;

pub(super) fn run(sets: &Sets) {
    heddle_runtime::affinity::free();
    msacc::register("poll", 0);
    let mut ready = Vec::new();
    let mut seen = backup::Seen::default();
    loop {
        let wait = backup::look(&mut seen);
        msacc::sleep(true);
        sets.of_thread.wait_for(wait, &mut ready);
        msacc::sleep(false);
        for handler in ready.drain(..) {
            msacc::enter(ThreadState::Port);
            // Before the port's lock, which a thread that has the turn may want.
            let _guard = qsbr::guard();
            handler();
        }
        msacc::enter(ThreadState::CheckIo);
    }
}
