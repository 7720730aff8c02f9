//! `epmd`: tells nodes of a computer's other nodes at which port each of them listens. It speaks the protocol of OTP's `epmd`, so either serves
//! nodes of both, and whichever started first keeps the port.
//!
//! Heddle has its own because OTP's is a C program of a package, which does not run where the computer's libc is older than the package's.

mod client;
mod names;
mod request;
mod server;

use std::ffi::OsString;
use std::net::IpAddr;

/// The port that nodes ask at, unless `ERL_EPMD_PORT` or `-port` says otherwise.
const PORT: u16 = 4369;

const HELP: &str = "\
epmd, the name server of Erlang nodes on this computer

    epmd [-daemon] [-port N] [-address LIST] [-relaxed_command_check]
                    starts the server, with -daemon in the background
    epmd -names     what nodes there are, and at which ports they listen
    epmd -kill      ends the server, if no node is registered
    epmd -stop NAME forgets a node (if the server was started with
                    -relaxed_command_check)

Options:
    -port N         the server's port (default: ERL_EPMD_PORT, else 4369)
    -address LIST   addresses to listen at besides 127.0.0.1 and ::1, with
                    commas (default: ERL_EPMD_ADDRESS, else all)
    -relaxed_command_check
                    -kill also while nodes are registered, and -stop
    -d, -debug      says on standard error what is asked

A node with a name (erl -sname, -name) starts the server if there is none.
";

pub struct Options {
    pub port: u16,
    /// None: all addresses.
    pub addresses: Option<Vec<IpAddr>>,
    pub relaxed: bool,
    pub debug: bool,
}

enum Action {
    Serve { daemon: bool },
    Names,
    Kill,
    Stop(String),
}

pub fn main(args: &[OsString]) -> ! {
    let args: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let (action, options) = parse(&args).unwrap_or_else(|problem| crate::erl::fail(&format!("epmd: {problem}; epmd -help tells more")));
    match action {
        Action::Serve { daemon } => server::run(&options, daemon),
        Action::Names => client::names(options.port),
        Action::Kill => client::kill(options.port),
        Action::Stop(name) => client::stop(options.port, &name),
    }
}

fn parse(args: &[String]) -> Result<(Action, Options), String> {
    let number = |text: &str| text.parse::<u16>().ok().filter(|&port| port > 0).ok_or(format!("{text} is no port"));
    let port = std::env::var("ERL_EPMD_PORT").ok().map_or(Ok(PORT), |text| number(&text))?;
    let mut options = Options { port, addresses: None, relaxed: false, debug: false };
    if let Ok(list) = std::env::var("ERL_EPMD_ADDRESS") {
        options.addresses = addresses(&list)?;
    }
    let (mut action, mut daemon) = (None, false);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let mut value = || rest.next().cloned().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "-help" | "--help" | "-h" | "-?" => {
                crate::listing::list_part!("{HELP}");
                std::process::exit(0);
            }
            "-daemon" => daemon = true,
            "-port" => options.port = number(&value()?)?,
            "-address" => options.addresses = addresses(&value()?)?,
            "-relaxed_command_check" => options.relaxed = true,
            "-d" | "-debug" => options.debug = true,
            "-names" => action = Some(Action::Names),
            "-kill" => action = Some(Action::Kill),
            "-stop" => action = Some(Action::Stop(value()?)),
            // These are for tests of OTP's, or change how long it waits.
            "-packet_timeout" | "-delay_accept" | "-delay_write" => drop(value()?),
            _ => return Err(format!("there is no option {arg}")),
        }
    }
    Ok((action.unwrap_or(Action::Serve { daemon }), options))
}

/// None if the list has none.
fn addresses(list: &str) -> Result<Option<Vec<IpAddr>>, String> {
    let parts = list.split([',', ' ']).filter(|part| !part.is_empty());
    let all: Vec<IpAddr> = parts.map(|part| part.parse().map_err(|_| format!("{part} is no address"))).collect::<Result<_, _>>()?;
    Ok(Some(all).filter(|all| !all.is_empty()))
}
