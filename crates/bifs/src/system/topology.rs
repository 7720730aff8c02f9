//! `system_info(cpu_topology)`: nodes, processors (sockets), cores, threads and logical processors, as Linux describes them under
//! /sys/devices/system. As in ERTS, the level of the nodes or of the threads is left out if it has only one entry
//! everywhere.

use heddle_term::{Atom, Heap, Term};
use std::collections::BTreeMap;
use std::path::Path;

/// Where a logical processor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cpu {
    node: u32,
    processor: u32,
    core: u32,
    logical: u32,
}

fn number(path: &Path) -> Option<u32> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// The entries of a directory whose names are `prefix` and a number, by that number.
fn numbered(directory: &Path, prefix: &str) -> Vec<(u32, std::path::PathBuf)> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let number = |entry: std::fs::DirEntry| Some((entry.file_name().to_str()?.strip_prefix(prefix)?.parse().ok()?, entry.path()));
    entries.flatten().filter_map(number).collect()
}

/// Logical processors that exist and are switched on.
fn cpus(system: &Path) -> Vec<Cpu> {
    let mut nodes = BTreeMap::new();
    for (node, path) in numbered(&system.join("node"), "node") {
        nodes.extend(numbered(&path, "cpu").into_iter().map(|(logical, _)| (logical, node)));
    }
    let mut found: Vec<Cpu> = numbered(&system.join("cpu"), "cpu")
        .into_iter()
        .filter_map(|(logical, path)| {
            let topology = path.join("topology");
            Some(Cpu {
                node: nodes.get(&logical).copied().unwrap_or(0),
                processor: number(&topology.join("physical_package_id"))?,
                core: number(&topology.join("core_id"))?,
                logical,
            })
        })
        .collect();
    found.sort_unstable();
    found
}

/// Runs of processors that are equal in `key`.
fn groups<'a>(cpus: &'a [Cpu], key: impl Fn(&Cpu) -> u32 + 'a) -> impl Iterator<Item = &'a [Cpu]> {
    cpus.chunk_by(move |a, b| key(a) == key(b))
}

fn tagged(heap: &mut Heap, tag: &str, value: Term) -> Term {
    heap.tuple(&[Atom::new(tag).into(), value])
}

fn logical(heap: &mut Heap, cpu: &Cpu) -> Term {
    tagged(heap, "logical", Term::small(cpu.logical as i64))
}

fn core(heap: &mut Heap, cpus: &[Cpu], has_threads: bool) -> Term {
    let inside = if has_threads {
        let threads: Vec<Term> = cpus
            .iter()
            .map(|cpu| {
                let id = logical(heap, cpu);
                tagged(heap, "thread", id)
            })
            .collect();
        heap.list(&threads)
    } else {
        logical(heap, &cpus[0])
    };
    tagged(heap, "core", inside)
}

fn processors(heap: &mut Heap, cpus: &[Cpu], has_threads: bool) -> Term {
    let all: Vec<Term> = groups(cpus, |cpu| cpu.processor)
        .map(|processor| {
            let cores: Vec<Term> = groups(processor, |cpu| cpu.core).map(|cpus| core(heap, cpus, has_threads)).collect();
            let cores = heap.list(&cores);
            tagged(heap, "processor", cores)
        })
        .collect();
    heap.list(&all)
}

/// The topology below a directory like /sys/devices/system; `undefined` if there is none.
fn topology(heap: &mut Heap, system: &Path) -> Term {
    let cpus = cpus(system);
    let Some(first) = cpus.first() else { return heddle_term::am::UNDEFINED.into() };
    let has_threads = cpus.windows(2).any(|w| (w[0].node, w[0].processor, w[0].core) == (w[1].node, w[1].processor, w[1].core));
    if cpus.iter().all(|cpu| cpu.node == first.node) {
        return processors(heap, &cpus, has_threads);
    }
    let nodes: Vec<Term> = groups(&cpus, |cpu| cpu.node)
        .map(|node| {
            let inside = processors(heap, node, has_threads);
            tagged(heap, "node", inside)
        })
        .collect();
    heap.list(&nodes)
}

/// The topology of this computer.
pub fn detected(heap: &mut Heap) -> Term {
    topology(heap, Path::new("/sys/devices/system"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_term::text::display;

    /// A directory as Linux would show these processors.
    fn shown(name: &str, cpus: &[Cpu], has_nodes: bool) -> String {
        let root = std::env::temp_dir().join(format!("heddle-topology-{}-{name}", std::process::id()));
        for cpu in cpus {
            let topology = root.join(format!("cpu/cpu{}/topology", cpu.logical));
            std::fs::create_dir_all(&topology).unwrap();
            std::fs::write(topology.join("core_id"), format!("{}\n", cpu.core)).unwrap();
            std::fs::write(topology.join("physical_package_id"), format!("{}\n", cpu.processor)).unwrap();
            if has_nodes {
                std::fs::create_dir_all(root.join(format!("node/node{}/cpu{}", cpu.node, cpu.logical))).unwrap();
            }
        }
        std::fs::create_dir_all(root.join("cpu/cpufreq")).unwrap();
        let mut heap = Heap::new();
        let text = display::to_string(topology(&mut heap, &root));
        heap.clear();
        std::fs::remove_dir_all(root).unwrap();
        text
    }

    fn cpu(node: u32, processor: u32, core: u32, logical: u32) -> Cpu {
        Cpu { node, processor, core, logical }
    }

    #[test]
    fn cores_without_threads() {
        let text = shown("cores", &[cpu(0, 0, 0, 0), cpu(0, 0, 1, 1)], false);
        assert_eq!(text, "[{processor,[{core,{logical,0}},{core,{logical,1}}]}]");
    }

    #[test]
    fn threads_of_a_core_stand_together() {
        let text = shown("threads", &[cpu(0, 0, 0, 0), cpu(0, 0, 1, 1), cpu(0, 0, 0, 2), cpu(0, 0, 1, 3)], true);
        let core = |a, b| format!("{{core,[{{thread,{{logical,{a}}}}},{{thread,{{logical,{b}}}}}]}}");
        assert_eq!(text, format!("[{{processor,[{},{}]}}]", core(0, 2), core(1, 3)));
    }

    #[test]
    fn several_nodes() {
        let text = shown("nodes", &[cpu(0, 0, 0, 0), cpu(1, 1, 0, 1)], true);
        assert_eq!(text, "[{node,[{processor,[{core,{logical,0}}]}]},{node,[{processor,[{core,{logical,1}}]}]}]");
    }

    #[test]
    fn unknown() {
        assert_eq!(shown("none", &[], false), "undefined");
    }
}
