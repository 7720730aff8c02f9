//! The load generator of bench/network: clients of a server, in a process of their own. One thread serves all connections, so that
//! the generator takes the same share of the computer whatever it measures.

mod arguments;
mod clients;
mod connection;
mod pace;
mod protocol;
mod readiness;
mod tls;

use arguments::Arguments;
use clients::Clients;
use std::io::Read;

fn main() {
    let arguments = Arguments::parse(std::env::args().skip(1)).unwrap_or_else(|problem| {
        eprintln!("heddle-load: {problem}");
        std::process::exit(2);
    });
    if let Err(error) = run(&arguments) {
        eprintln!("heddle-load: {error}");
        std::process::exit(1);
    }
}

fn run(arguments: &Arguments) -> std::io::Result<()> {
    let mut clients = Clients::connect(arguments)?;
    if arguments.holds {
        println!("{{\"open\": {}}}", clients.count());
        std::io::stdin().read_to_end(&mut Vec::new())?;
        return Ok(());
    }
    println!("{}", clients.run()?.json());
    Ok(())
}
