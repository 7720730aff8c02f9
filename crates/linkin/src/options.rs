//! Arguments of the natives of `erl_ddll`.

use heddle_term::{Atom, Term, list};

/// A name: an atom that is not empty, or an iolist.
pub fn name(term: Term) -> Option<Vec<u8>> {
    match term.as_atom() {
        Some(name) => Some(name.name().chars().map(|c| c as u32 as u8).collect::<Vec<u8>>()).filter(|name| !name.is_empty()),
        None => list::iolist_to_vec(term).ok(),
    }
}

/// How the caller wants to hear that a driver is loaded or unloaded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    No,
    /// Only if it waits for ports, not for other processes.
    Driver,
    Any,
}

impl Wait {
    pub fn of(term: Term) -> Option<Wait> {
        match term.as_atom()?.name() {
            "pending_driver" => Some(Wait::Driver),
            "pending" => Some(Wait::Any),
            _ => None,
        }
    }
}

pub struct LoadOptions {
    pub kills_ports: bool,
    pub wait: Wait,
    pub reload: Wait,
}

pub fn load_options(term: Term) -> Option<LoadOptions> {
    let mut options = LoadOptions { kills_ports: false, wait: Wait::No, reload: Wait::No };
    for option in list::to_vec(term)? {
        let &[key, value] = option.as_tuple()? else { return None };
        match key.as_atom()?.name() {
            "driver_options" => {
                for option in list::to_vec(value)? {
                    if !option.is_atom_of(Atom::new("kill_ports")) {
                        return None;
                    }
                    options.kills_ports = true;
                }
            }
            "monitor" => options.wait = Wait::of(value)?,
            "reload" => options.reload = Wait::of(value)?,
            _ => return None,
        }
    }
    Some(options)
}

/// Drivers of the VM, as stock lists its own: these cannot be loaded or unloaded.
pub const BUILT_IN: [&str; 3] = ["tcp_inet", "udp_inet", "ram_file_drv"];

pub fn is_built_in(name: &[u8]) -> bool {
    BUILT_IN.iter().any(|known| known.as_bytes() == name)
}
