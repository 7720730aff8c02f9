//! The nodes as a crash dump and `system_info(dist)` show them: sections as in stock's dumps, without the links and monitors.

use heddle_runtime::nodes::{KnownNode, nodes};
use heddle_runtime::send::node_name;
use heddle_term::{Term, text};
use std::fmt::Write;

fn shown(term: Term) -> String {
    text::display::to_string(term)
}

/// This node, then the others: a section each, with the number by which identifiers name the node.
pub fn sections() -> String {
    let own = node_name();
    let mut out = format!("=node:{}\n", shown(own.into()));
    if own.name() == "nonode@nohost" {
        out.push_str("=no_distribution\n");
        return out;
    }
    for KnownNode { name, up } in nodes().known() {
        let kind = match &up {
            Some(up) if up.is_visible => "visible_node",
            Some(_) => "hidden_node",
            None => "not_connected",
        };
        let _ = writeln!(out, "={kind}:{}\nName: {}", name.index(), shown(name.into()));
        if let Some(up) = up {
            if let Some(carrier) = up.carrier {
                let _ = writeln!(out, "Controller: {}", shown(carrier));
            }
            let _ = writeln!(out, "Creation: {}", up.creation);
        }
    }
    out
}
