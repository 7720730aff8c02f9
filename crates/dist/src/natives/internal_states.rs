//! How OTP's own tests look into the distribution: states of `erts_debug:get_internal_state/1`.

use crate::connection::Stage;
use crate::wire::OutCache;
use crate::{monitors, table};
use heddle_bifs::system::remote_tables;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::send::node_name;
use heddle_term::{Term, am};

/// The state of a key, or of `{Key, Value}`. None: there is no such state.
pub fn state(p: &mut Process, key: &str, value: Term) -> Option<NativeResult> {
    if value.is_none() {
        return match key {
            "max_atom_out_cache_index" => Some(Ok(Term::small(OutCache::MAX_PLACE as i64))),
            "monitoring_nodes" => Some(Ok(monitors::all(&mut p.heap))),
            _ => None,
        };
    }
    let name = value.as_atom()?;
    match key {
        "dist_ctrl" => {
            let connection = table::find(name).and_then(|node| node.connection()).filter(|connection| connection.stage() == Stage::Up);
            Some(Ok(connection.and_then(|connection| connection.carrier_term()).unwrap_or(am::UNDEFINED.into())))
        }
        "atom_out_cache_index" => Some(Ok(Term::small(OutCache::place(name) as i64))),
        "link_list" | "monitor_list" => {
            let Some(node) = table::find(name) else {
                return Some(Ok(if name == node_name() { Term::NIL } else { am::UNDEFINED.into() }));
            };
            let Some(connection) = node.connection() else { return Some(Ok(Term::NIL)) };
            let asked = remote_tables::ask(p, connection.id, &connection.related(), key == "link_list");
            Some(Err(p.await_result(asked)))
        }
        _ => None,
    }
}
