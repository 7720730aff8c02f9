//! Functions of other modules that send an argument, or whose result is made of arguments.
//!
//! Arguments count from 0. What is not in the table sends nothing and returns nothing of what it got, as far as we know. Facts
//! are from OTP's reference manual; that `io` sends its arguments to the group leader, from the protocol that the manual of stdlib
//! describes.

mod data;
mod services;

/// What a function does with one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Sends it, or hands it to a new process.
    Sends(u8),
    /// The result is the argument, or shares all of it.
    Shares(u8),
    /// The result is a new object with the elements of the argument.
    Copies(u8),
    /// The result is a new object with the argument as an element.
    Holds(u8),
    /// The result is an element of the argument, a list.
    Picks(u8),
    /// The argument is a fun; the result is what it returned.
    Returns(u8),
    /// The argument is a fun; the elements of the result are what it returned.
    Collects(u8),
}
use Effect::*;

pub(super) type Row = (&'static str, u32, &'static [Effect]);

/// What a function does, from the rows of its module.
pub(super) fn known(rows: &'static [Row], function: &str, arity: u32) -> Option<&'static [Effect]> {
    rows.iter().find(|row| row.1 == arity && row.0 == function).map(|row| row.2)
}

/// The functions of a module; none if we know nothing of it.
pub(super) fn table(module: &str) -> &'static [Row] {
    match module {
        "erlang" => ERLANG,
        "lists" => data::LISTS,
        "maps" => data::MAPS,
        "proc_lib" => services::PROC_LIB,
        "gen_server" => services::GEN_SERVER,
        "gen_statem" => services::GEN_STATEM,
        "gen_event" => services::GEN_EVENT,
        "gen_fsm" => services::GEN_FSM,
        "gen" => services::GEN,
        "supervisor" => services::SUPERVISOR,
        "timer" => services::TIMER,
        "io" => services::IO,
        "rpc" => services::RPC,
        "erpc" => services::ERPC,
        "global" => &[("send", 2, &[Sends(1)])],
        _ => &[],
    }
}

const ERLANG: &[Row] = &[
    ("!", 2, &[Sends(1), Shares(1)]),
    ("send", 2, &[Sends(1), Shares(1)]),
    ("send", 3, &[Sends(1)]),
    ("send_nosuspend", 2, &[Sends(1)]),
    ("send_nosuspend", 3, &[Sends(1)]),
    ("send_after", 3, &[Sends(2)]),
    ("send_after", 4, &[Sends(2)]),
    ("start_timer", 3, &[Sends(2)]),
    ("start_timer", 4, &[Sends(2)]),
    ("exit", 2, &[Sends(1)]),
    ("spawn", 1, &[Sends(0)]),
    ("spawn", 2, &[Sends(1)]),
    ("spawn", 3, &[Sends(2)]),
    ("spawn", 4, &[Sends(3)]),
    ("spawn_link", 1, &[Sends(0)]),
    ("spawn_link", 2, &[Sends(1)]),
    ("spawn_link", 3, &[Sends(2)]),
    ("spawn_link", 4, &[Sends(3)]),
    ("spawn_monitor", 1, &[Sends(0)]),
    ("spawn_monitor", 2, &[Sends(1)]),
    ("spawn_monitor", 3, &[Sends(2)]),
    ("spawn_monitor", 4, &[Sends(3)]),
    ("spawn_opt", 2, &[Sends(0)]),
    ("spawn_opt", 3, &[Sends(1)]),
    ("spawn_opt", 4, &[Sends(2)]),
    ("spawn_opt", 5, &[Sends(3)]),
    // Options stand last, and may be left out or follow a node: which of two arguments is the fun or the list is seen later.
    ("spawn_request", 1, &[Sends(0)]),
    ("spawn_request", 2, &[Sends(0), Sends(1)]),
    ("spawn_request", 3, &[Sends(1), Sends(2)]),
    ("spawn_request", 4, &[Sends(2), Sends(3)]),
    ("spawn_request", 5, &[Sends(3)]),
    ("++", 2, &[Copies(0), Shares(1)]),
    ("--", 2, &[Copies(0)]),
    ("append", 2, &[Copies(0), Shares(1)]),
    ("hd", 1, &[Picks(0)]),
    ("tl", 1, &[Shares(0)]),
    ("tuple_to_list", 1, &[Copies(0)]),
    ("list_to_tuple", 1, &[Copies(0)]),
    ("setelement", 3, &[Copies(1), Holds(2)]),
    ("append_element", 2, &[Copies(0), Holds(1)]),
    ("insert_element", 3, &[Copies(1), Holds(2)]),
    ("delete_element", 2, &[Copies(1)]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_unique_and_name_arguments_that_exist() {
        let modules = "erlang lists maps proc_lib gen_server gen_statem gen_event gen_fsm gen supervisor timer io rpc erpc global";
        for module in modules.split(' ') {
            let rows = table(module);
            assert!(!rows.is_empty(), "{module}");
            for (at, row) in rows.iter().enumerate() {
                assert!(!rows[..at].iter().any(|other| (other.0, other.1) == (row.0, row.1)), "{module}:{}/{} twice", row.0, row.1);
                for effect in row.2 {
                    let (Sends(a) | Shares(a) | Copies(a) | Holds(a) | Picks(a) | Returns(a) | Collects(a)) = *effect;
                    assert!(u32::from(a) < row.1, "{module}:{}/{}", row.0, row.1);
                }
            }
        }
    }

    #[test]
    fn look_up() {
        assert_eq!(known(table("erlang"), "send", 2), Some(&[Sends(1), Shares(1)][..]));
        assert_eq!(known(table("lists"), "seq", 2), None);
        assert_eq!(known(table("gen_tcp"), "send", 2), None);
    }
}
