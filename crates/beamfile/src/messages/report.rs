//! The judgement of every construction, with the reason: for people, not for loading.
//!
//! Each place that sends is followed alone, so that what is found is known to come from there. That takes as many runs as there
//! are such places.

use super::flow::Flow;
use super::graph::Graph;
use super::sites::{Site, Sites};
use super::{Kind, analyse, steps};
use crate::lines::Location;
use crate::operand::Operand;
use crate::verify::Verified;
use heddle_abi::opcodes::Op;

/// A construction and what it is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Construction {
    /// Index of the instruction.
    pub instr: usize,
    /// Index of the function that it stands in.
    pub function: usize,
    pub location: Location,
    pub kind: Kind,
    /// Why it is a message; `None`: it is local.
    pub reason: Option<Reason>,
}

/// The first place in the module, in the order of its code, that sends what a construction builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// `!`, a function that sends, or `{reply, _, _}`.
    pub sends: String,
    pub location: Location,
    /// Indices of functions: from the one of the construction to the one that sends, each of which calls the next, or is
    /// called by it.
    pub through: Vec<usize>,
}

/// All constructions of a module, in the order of its code.
pub fn constructions(beam: &Verified) -> Vec<Construction> {
    let mut constructions = Vec::new();
    for (index, function) in beam.code.functions.iter().enumerate() {
        for at in function.entry as usize..function.end as usize {
            if let Some(kind) = steps::construction(beam, &beam.code.instrs[at]) {
                let location = location(beam, function, at);
                constructions.push(Construction { instr: at, function: index, location, kind, reason: None });
            }
        }
    }
    let Some(sites) = Sites::find(beam) else { return constructions };
    let graph = Graph::new(beam, &sites);
    for site in &sites.senders {
        one_sender(beam, &sites, &graph, site, &mut constructions);
    }
    for &exit in &sites.exits {
        steps::exit_reason(beam, exit as usize, |built| {
            if let Ok(found) = constructions.binary_search_by_key(&built, |construction| construction.instr) {
                let function = constructions[found].function;
                let place = Site { instr: exit, function: function as u32 };
                constructions[found].reason.get_or_insert_with(|| reason(beam, &sites, &place, vec![function]));
            }
        });
    }
    // Where wants of several senders met, more may be judged a message than from each alone.
    let messages = analyse(beam);
    for construction in constructions.iter_mut().filter(|found| found.reason.is_none() && messages.contains(found.instr)) {
        let (location, through) = (construction.location, vec![construction.function]);
        construction.reason = Some(Reason { sends: "several together".into(), location, through });
    }
    constructions
}

fn one_sender(beam: &Verified, sites: &Sites, graph: &Graph, site: &Site, constructions: &mut [Construction]) {
    let mut flow = Flow::new(beam, sites, graph, super::Messages::none_of(beam.code.instrs.len()));
    flow.only = Some(site.instr);
    flow.causes = Some(vec![None; beam.code.functions.len()]);
    flow.run(std::iter::once(site.function));
    let causes = flow.causes.take().unwrap_or_default();
    for construction in constructions {
        if construction.reason.is_none() && flow.messages.contains(construction.instr) {
            let mut through = vec![construction.function];
            let mut last = construction.function;
            while last != site.function as usize && through.len() <= causes.len() {
                last = causes[last].map_or(site.function, |cause| cause) as usize;
                through.push(last);
            }
            construction.reason = Some(reason(beam, sites, site, through));
        }
    }
}

fn reason(beam: &Verified, sites: &Sites, site: &Site, through: Vec<usize>) -> Reason {
    let instr = &beam.code.instrs[site.instr as usize];
    let operands = beam.code.operands(instr);
    let atom = |index| beam.atoms.get(index).unwrap_or("?");
    let sends = match (instr.op, operands) {
        (Op::Send, _) => "!".into(),
        (Op::PutTuple2, &[_, Operand::List(list)]) => {
            let elements = beam.code.list(list);
            let reply = sites.reply(beam, instr, site.function);
            let shown = elements.iter().enumerate().map(|(at, &element)| match element {
                Operand::Atom(tag) if at == 0 => atom(tag),
                _ if Some(element) == reply => "Reply",
                _ => "_",
            });
            format!("{{{}}}", shown.collect::<Vec<_>>().join(", "))
        }
        (_, [_, import, ..]) => {
            let import = import.number().and_then(|import| beam.imports.get(import as usize));
            import.map_or("?".into(), |import| format!("{}:{}/{}", atom(import.module), atom(import.function), import.arity))
        }
        _ => "?".into(),
    };
    Reason { sends, location: location(beam, &beam.code.functions[site.function as usize], site.instr as usize), through }
}

/// Instructions that build have no line of their own. What follows in the same run of instructions is mostly of the same
/// expression; else the line before it counts.
fn location(beam: &Verified, function: &crate::Function, at: usize) -> Location {
    let instrs = &beam.code.instrs;
    let line = |instr: &crate::Instr| {
        let item = beam.code.operands(instr)[0].number()?;
        beam.lines.items.get(item as usize).copied().filter(|location| location.line != 0)
    };
    let behind = instrs[at + 1..function.end as usize].iter().take_while(|instr| !matches!(instr.op, Op::Label | Op::Return | Op::Jump));
    let before = instrs[function.start as usize..=at].iter().rev();
    let is_line = |instr: &&crate::Instr| instr.op == Op::Line;
    behind.filter(is_line).find_map(line).or_else(|| before.filter(is_line).find_map(line)).unwrap_or_default()
}
