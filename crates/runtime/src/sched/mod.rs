//! Schedulers: one OS thread each, one run queue each.
//!
//! A process that is woken goes on the queue of the scheduler that wakes it (its partner is probably done soon, and its data
//! are in that core's cache), or, woken from outside, on the queue it was last on. Idle schedulers look for work by stealing:
//! at once from a queue of two or more; a single process is left to its owner unless that owner took nothing for a while.
//! They spin for a short time, then park; a push that makes a queue two long, or a yield with others waiting, wakes one.
//!
//! Parking: a scheduler that found nothing enters the set of the idle (`heddle_sync::idle`), looks at all queues once more, and parks.
//! A thread that pushes looks at that set afterwards.

mod after_slice;
pub mod backup;
pub mod balance;
pub mod blocking;
mod contention;
pub mod dirty;
mod dirty_queue;
pub mod home;
mod idling;
mod online;
pub mod placement;
pub mod polling;
pub mod private_threads;
pub(crate) mod purge;
mod run;
pub mod run_queue;
mod running;
pub mod stop_world;
mod table;
mod threads;
mod timeouts;
mod waking;
pub mod worker_cache;

pub use after_slice::after_slice;
pub use home::online;
pub(crate) use idling::takes_work;
pub(crate) use online::close;
pub use online::set_online;
pub(crate) use polling::{have_look, wake_all_to_look};
pub(crate) use run::{SWITCHES, handle_signals, instead_of_slice, run_slice, switch_out, switched_in, switched_out};
pub(crate) use running::at_work;
pub use running::{context_switches, running, running_pid, switch_accounts, total_reductions};
pub(crate) use table::{AtWork, dirty_queue, new_engine, queue, set_dirty, share};
pub use table::{
    Engine, EngineThread, ThreadCounts, busy_schedulers, count, counts, current_id, current_index, dirty_queue_lengths, engine,
    id_of_private, in_flight, on_dirty_thread, on_scheduler, options, queue_lengths, timers,
};
pub use threads::{init, start};
pub use timeouts::{after, cancel_receive_timer, set_receive_timer};
pub use waking::{enqueue, is_woken, is_woken_for, start_process, wake};
pub(crate) use waking::{enqueue_at, wake_scheduler};
