//! The node that is attacked, and the processes of it that are known.

use crate::epmd;
use crate::options::Options;
use heddle_term::Atom;
use heddle_term::ident::PidView;
use std::collections::HashSet;
use std::io::Error;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// After this time the list of victims is asked for again: some have ended, and others took their places.
const FRESH: Duration = Duration::from_millis(500);

pub struct Target {
    pub node: String,
    pub host: String,
    pub port: u16,
    pub cookie: String,
    pub patience: Duration,
    pub is_stock: bool,
    names: u64,
    victims: Mutex<(Vec<PidView>, Option<Instant>)>,
    /// Processes that the node does not live without, by number and serial. None if the node did not say.
    protected: OnceLock<HashSet<(u32, u32)>>,
}

impl Target {
    pub fn new(options: &Options) -> Result<Target, Error> {
        let host = options.host().to_owned();
        let name = options.node.split('@').next().unwrap_or_default();
        let port = match options.port {
            Some(port) => port,
            None => epmd::port_of(&host, options.epmd_port, name)?,
        };
        Ok(Target {
            node: options.node.clone(),
            host,
            port,
            cookie: options.cookie.clone(),
            patience: options.patience,
            is_stock: options.is_stock,
            names: options.names,
            victims: Mutex::default(),
            protected: OnceLock::new(),
        })
    }

    /// The name of the node that a connection pretends to be.
    pub fn name(&self, connection: u64) -> String {
        format!("hostile{}@{}", connection % self.names, self.host)
    }

    pub fn atom(&self) -> Atom {
        Atom::new(&self.node)
    }

    pub fn victims(&self) -> Vec<PidView> {
        self.victims.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// True if the caller has to ask for the victims.
    pub fn wants_victims(&self) -> bool {
        let mut victims = self.victims.lock().unwrap_or_else(PoisonError::into_inner);
        let wants = victims.1.is_none_or(|known| known.elapsed() > FRESH);
        if wants {
            // Others need not ask as well.
            victims.1 = Some(Instant::now());
        }
        wants
    }

    pub fn know_victims(&self, pids: Vec<PidView>) {
        self.victims.lock().unwrap_or_else(PoisonError::into_inner).0 = pids;
    }

    pub fn know_protected(&self, pids: &[PidView]) {
        let _ = self.protected.set(pids.iter().map(|pid| (pid.number, pid.serial)).collect());
    }

    /// True for a process that no exit signal, link or group leader may reach.
    pub fn is_protected(&self, pid: PidView) -> bool {
        match self.protected.get() {
            Some(protected) => protected.contains(&(pid.number, pid.serial)),
            // The processes of a node that has just started.
            None => pid.number < 500,
        }
    }

    /// A process that gets no signals but messages and monitors.
    pub fn some_protected(&self, index: u64) -> Option<PidView> {
        let protected = self.protected.get()?;
        let mut all: Vec<_> = protected.iter().copied().collect();
        all.sort_unstable();
        let &(number, serial) = all.get(index as usize % all.len().max(1))?;
        let (node, creation) = heddle_term::node::current();
        Some(PidView { node, creation, number, serial })
    }
}
