//! Processes that ports monitor.

use crate::entry::Monitor;
use crate::instance::{self, PortHandle};
use heddle_io::ports::driver::After;
use heddle_runtime::{proctab, qsbr, refs};
use heddle_term::Term;
use libc::c_int;

api! { FUNCTIONS:
    fn driver_monitor_process(port: PortHandle, process: Term, monitor: *mut Monitor) -> c_int {
        let Some(instance) = instance::of(port) else { return -1 };
        if instance.refuses().is_some() || instance.library.loaded.entry().process_exit.is_none() {
            return -1;
        }
        let _guard = qsbr::guard();
        if !process.is_local_pid() || proctab::find(process).is_none_or(|p| p.state.load().is_exiting()) {
            return 1;
        }
        let reference = refs::fresh();
        instance.monitors.lock().unwrap().insert(reference, process);
        instance.act(move |context| {
            context.monitor_as(reference, process);
            After::Continue
        });
        *monitor = Monitor::of(reference);
        0
    }
    fn driver_demonitor_process(port: PortHandle, monitor: *const Monitor) -> c_int {
        let Some(instance) = instance::of(port) else { return -1 };
        let reference = (*monitor).reference();
        if instance.monitors.lock().unwrap().remove(&reference).is_none() {
            return 1;
        }
        instance.act(move |context| {
            context.demonitor_as(reference);
            After::Continue
        });
        0
    }
    fn driver_get_monitored_process(port: PortHandle, monitor: *const Monitor) -> Term {
        let instance = instance::of(port);
        instance.and_then(|instance| instance.monitors.lock().unwrap().get(&(*monitor).reference()).copied()).unwrap_or(Term::NIL)
    }
    fn driver_compare_monitors(a: *const Monitor, b: *const Monitor) -> c_int {
        (*a).words.cmp(&(*b).words) as c_int
    }
}
