//! Libraries that send arguments, or start processes with them.

use super::Effect::*;
use super::Row;

pub(super) const PROC_LIB: &[Row] = &[
    ("spawn", 1, &[Sends(0)]),
    ("spawn", 2, &[Sends(1)]),
    ("spawn", 3, &[Sends(2)]),
    ("spawn", 4, &[Sends(3)]),
    ("spawn_link", 1, &[Sends(0)]),
    ("spawn_link", 2, &[Sends(1)]),
    ("spawn_link", 3, &[Sends(2)]),
    ("spawn_link", 4, &[Sends(3)]),
    ("spawn_opt", 2, &[Sends(0)]),
    ("spawn_opt", 3, &[Sends(1)]),
    ("spawn_opt", 4, &[Sends(2)]),
    ("spawn_opt", 5, &[Sends(3)]),
    ("start", 3, &[Sends(2)]),
    ("start", 4, &[Sends(2)]),
    ("start", 5, &[Sends(2)]),
    ("start_link", 3, &[Sends(2)]),
    ("start_link", 4, &[Sends(2)]),
    ("start_link", 5, &[Sends(2)]),
    ("start_monitor", 3, &[Sends(2)]),
    ("start_monitor", 4, &[Sends(2)]),
    ("start_monitor", 5, &[Sends(2)]),
    ("init_ack", 1, &[Sends(0)]),
    ("init_ack", 2, &[Sends(1)]),
];

// A start hands its argument to the new process.
pub(super) const GEN_SERVER: &[Row] = &[
    ("start", 3, &[Sends(1)]),
    ("start", 4, &[Sends(2)]),
    ("start_link", 3, &[Sends(1)]),
    ("start_link", 4, &[Sends(2)]),
    ("start_monitor", 3, &[Sends(1)]),
    ("start_monitor", 4, &[Sends(2)]),
    ("call", 2, &[Sends(1)]),
    ("call", 3, &[Sends(1)]),
    ("cast", 2, &[Sends(1)]),
    ("reply", 2, &[Sends(1)]),
    ("abcast", 2, &[Sends(1)]),
    ("abcast", 3, &[Sends(2)]),
    ("multi_call", 2, &[Sends(1)]),
    ("multi_call", 3, &[Sends(2)]),
    ("multi_call", 4, &[Sends(2)]),
    ("send_request", 2, &[Sends(1)]),
    ("send_request", 4, &[Sends(1)]),
];

pub(super) const GEN_STATEM: &[Row] = &[
    ("start", 3, &[Sends(1)]),
    ("start", 4, &[Sends(2)]),
    ("start_link", 3, &[Sends(1)]),
    ("start_link", 4, &[Sends(2)]),
    ("start_monitor", 3, &[Sends(1)]),
    ("start_monitor", 4, &[Sends(2)]),
    ("call", 2, &[Sends(1)]),
    ("call", 3, &[Sends(1)]),
    ("cast", 2, &[Sends(1)]),
    ("reply", 1, &[Sends(0)]),
    ("reply", 2, &[Sends(1)]),
    ("send_request", 2, &[Sends(1)]),
    ("send_request", 4, &[Sends(1)]),
];

pub(super) const GEN_EVENT: &[Row] = &[
    ("notify", 2, &[Sends(1)]),
    ("sync_notify", 2, &[Sends(1)]),
    ("call", 3, &[Sends(2)]),
    ("call", 4, &[Sends(2)]),
    ("send_request", 3, &[Sends(2)]),
    ("send_request", 5, &[Sends(2)]),
    ("add_handler", 3, &[Sends(2)]),
    ("add_sup_handler", 3, &[Sends(2)]),
    ("delete_handler", 3, &[Sends(2)]),
    ("swap_handler", 3, &[Sends(1), Sends(2)]),
    ("swap_sup_handler", 3, &[Sends(1), Sends(2)]),
];

pub(super) const GEN_FSM: &[Row] = &[
    ("start", 3, &[Sends(1)]),
    ("start", 4, &[Sends(2)]),
    ("start_link", 3, &[Sends(1)]),
    ("start_link", 4, &[Sends(2)]),
    ("send_event", 2, &[Sends(1)]),
    ("send_all_state_event", 2, &[Sends(1)]),
    ("sync_send_event", 2, &[Sends(1)]),
    ("sync_send_event", 3, &[Sends(1)]),
    ("sync_send_all_state_event", 2, &[Sends(1)]),
    ("sync_send_all_state_event", 3, &[Sends(1)]),
    ("send_event_after", 2, &[Sends(1)]),
    ("start_timer", 2, &[Sends(1)]),
    ("reply", 2, &[Sends(1)]),
];

pub(super) const GEN: &[Row] = &[
    ("call", 3, &[Sends(2)]),
    ("call", 4, &[Sends(2)]),
    ("reply", 2, &[Sends(1)]),
    ("send_request", 3, &[Sends(2)]),
    ("send_request", 5, &[Sends(2)]),
];

pub(super) const SUPERVISOR: &[Row] = &[("start_link", 2, &[Sends(1)]), ("start_link", 3, &[Sends(2)]), ("start_child", 2, &[Sends(1)])];

pub(super) const TIMER: &[Row] = &[
    ("send_after", 2, &[Sends(1)]),
    ("send_after", 3, &[Sends(2)]),
    ("send_interval", 2, &[Sends(1)]),
    ("send_interval", 3, &[Sends(2)]),
    ("apply_after", 2, &[Sends(1)]),
    ("apply_after", 3, &[Sends(1), Sends(2)]),
    ("apply_after", 4, &[Sends(3)]),
    ("apply_interval", 2, &[Sends(1)]),
    ("apply_interval", 3, &[Sends(1), Sends(2)]),
    ("apply_interval", 4, &[Sends(3)]),
    ("apply_repeatedly", 4, &[Sends(3)]),
];

pub(super) const IO: &[Row] = &[
    ("format", 2, &[Sends(0), Sends(1)]),
    ("format", 3, &[Sends(1), Sends(2)]),
    ("fwrite", 2, &[Sends(0), Sends(1)]),
    ("fwrite", 3, &[Sends(1), Sends(2)]),
    ("put_chars", 1, &[Sends(0)]),
    ("put_chars", 2, &[Sends(1)]),
    ("write", 1, &[Sends(0)]),
    ("write", 2, &[Sends(1)]),
    ("request", 2, &[Sends(1)]),
    ("requests", 2, &[Sends(1)]),
];

pub(super) const RPC: &[Row] = &[
    ("call", 4, &[Sends(3)]),
    ("call", 5, &[Sends(3)]),
    ("block_call", 4, &[Sends(3)]),
    ("block_call", 5, &[Sends(3)]),
    ("cast", 4, &[Sends(3)]),
    ("async_call", 4, &[Sends(3)]),
    ("multicall", 3, &[Sends(2)]),
    ("multicall", 4, &[Sends(2), Sends(3)]),
    ("multicall", 5, &[Sends(3)]),
    ("abcast", 2, &[Sends(1)]),
    ("abcast", 3, &[Sends(2)]),
    ("sbcast", 2, &[Sends(1)]),
    ("sbcast", 3, &[Sends(2)]),
];

pub(super) const ERPC: &[Row] = &[
    ("call", 2, &[Sends(1)]),
    ("call", 3, &[Sends(1)]),
    ("call", 4, &[Sends(3)]),
    ("call", 5, &[Sends(3)]),
    ("cast", 2, &[Sends(1)]),
    ("cast", 4, &[Sends(3)]),
    ("send_request", 2, &[Sends(1)]),
    ("send_request", 4, &[Sends(1), Sends(3)]),
    ("send_request", 6, &[Sends(3)]),
    ("multicall", 2, &[Sends(1)]),
    ("multicall", 3, &[Sends(1)]),
    ("multicall", 4, &[Sends(3)]),
    ("multicall", 5, &[Sends(3)]),
    ("multicast", 2, &[Sends(1)]),
    ("multicast", 4, &[Sends(3)]),
];
