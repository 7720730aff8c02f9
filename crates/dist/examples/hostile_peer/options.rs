//! What the command line says.

use std::time::Duration;

pub const HELP: &str = "\
hostile_peer --node NAME@HOST --cookie COOKIE [OPTION]...   a peer that does whatever the protocol of the distribution allows, and what it forbids

It makes connections to a node, one after the other, several at a time. Each has a number, which together with the seed determines all that it does:

  handshakes   wrong ones: cut short, slow, old versions, wrong digests, huge names, wrong lengths, one name twice, packets too early
  sessions     right handshakes, and then packets: real ones with random identifiers, real ones with some bytes changed, and packets that a node never
               sends: deep terms, lengths that are not there, atom caches and fragments used wrongly, links and monitors in masses. A session ends with a
               packet that breaks the protocol, with half a packet, or by closing

A copy of the receiver's own decoder says beforehand which packets the node has to refuse. So most of the packets reach what comes after the decoder, and
each session knows how it must end. It is a failure if the node does not answer a monitor within --patience seconds, if it closes a session that kept
to the protocol, if it keeps one open that broke it, or if it tells its digest to a peer without the cookie. What the node becomes of it (its
processes, atoms, memory) is for the caller to see: tests/hostile/run does.

  --node NAME@HOST   the node
  --cookie COOKIE    its cookie
  --port PORT        where it listens (default: asks epmd on the node's host)
  --epmd-port PORT   of epmd (default: 4369)
  --seconds S        ends after S seconds (default 10) ...
  --frames N         ... or after N frames ...
  --handshakes N     ... and N handshakes, if one of the two is given
  --seed N           of all choices (default 1)
  --from N           the number of the first connection (default 0)
  --only N           this connection alone, and tells what it does: repeats a failure
  --peers N          connections at a time (default 6)
  --wrong PERCENT    connections that are wrong handshakes (default 50)
  --names N          names of the nodes that it pretends to be (default 1000)
  --atoms N          atoms that it may make in the node (default 20000)
  --patience S       seconds after which the node hangs (default 60)
  --stock            the node is not Heddle: it may refuse other packets
  --flood KIND       one attack on a bound instead: atoms, exports, funs, sequences, fragments, packet, names, monitors, links, answers, idle, spawns
  --kill NUMBER      sends `kill` to the process <0.NUMBER.0>, and nothing else

Exit code: 0, or 1 after a failure, which is told with the command that repeats it. The last line is `@counts JSON`.";

#[derive(Clone)]
pub struct Options {
    /// `NAME@HOST`
    pub node: String,
    pub cookie: String,
    pub port: Option<u16>,
    pub epmd_port: u16,
    pub time: Duration,
    pub frames: Option<u64>,
    pub handshakes: Option<u64>,
    pub seed: u64,
    pub from: u64,
    pub only: Option<u64>,
    pub peers: u64,
    /// Percent.
    pub wrong: u64,
    pub names: u64,
    pub atoms: usize,
    pub patience: Duration,
    pub is_stock: bool,
    pub flood: Option<String>,
    pub kill: Option<u32>,
}

impl Options {
    /// Error: what is wrong with the command line, and what to do.
    pub fn parse(arguments: &[String]) -> Result<Options, String> {
        let mut options = Options {
            node: String::new(),
            cookie: String::new(),
            port: None,
            epmd_port: 4369,
            time: Duration::from_secs(10),
            frames: None,
            handshakes: None,
            seed: 1,
            from: 0,
            only: None,
            peers: 6,
            wrong: 50,
            names: 1000,
            atoms: 20_000,
            patience: Duration::from_secs(60),
            is_stock: false,
            flood: None,
            kill: None,
        };
        let (mut rest, mut has_seconds) = (arguments.iter(), false);
        while let Some(option) = rest.next() {
            if option == "--stock" {
                options.is_stock = true;
                continue;
            }
            let value = rest.next().ok_or_else(|| format!("{option}: no value follows; see --help"))?;
            let number = || value.parse::<u64>().map_err(|_| format!("{option} {value}: a number is wanted"));
            match option.as_str() {
                "--node" => options.node = value.clone(),
                "--cookie" => options.cookie = value.clone(),
                "--port" => options.port = Some(number()? as u16),
                "--epmd-port" => options.epmd_port = number()? as u16,
                "--seconds" => (options.time, has_seconds) = (Duration::from_secs(number()?), true),
                "--frames" => options.frames = Some(number()?),
                "--handshakes" => options.handshakes = Some(number()?),
                "--seed" => options.seed = number()?,
                "--from" => options.from = number()?,
                "--only" => options.only = Some(number()?),
                "--peers" => options.peers = number()?.max(1),
                "--wrong" => options.wrong = number()?,
                "--names" => options.names = number()?.max(1),
                "--atoms" => options.atoms = number()? as usize,
                "--patience" => options.patience = Duration::from_secs(number()?),
                "--flood" => options.flood = Some(value.clone()),
                "--kill" => options.kill = Some(number()? as u32),
                _ => return Err(format!("no option {option}; see --help")),
            }
        }
        if !options.node.contains('@') || options.cookie.is_empty() {
            return Err("--node NAME@HOST and --cookie COOKIE say which node; see --help".into());
        }
        // So each worker has names of its own.
        options.names = options.names.next_multiple_of(options.peers);
        if !has_seconds && (options.frames.is_some() || options.handshakes.is_some()) {
            options.time = Duration::from_secs(24 * 3600);
        }
        Ok(options)
    }

    pub fn host(&self) -> &str {
        self.node.split_once('@').map_or("localhost", |(_, host)| host)
    }

    /// The command that repeats a connection.
    pub fn repeat(&self, connection: u64) -> String {
        let Options { node, cookie, seed, wrong, names, peers, .. } = self;
        let stock = if self.is_stock { " --stock" } else { "" };
        format!(
            "hostile_peer --node {node} --cookie {cookie} --seed {seed} --wrong {wrong} --names {names} --peers {peers}{stock} --only {connection}"
        )
    }
}
