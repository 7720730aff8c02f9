//! The code of modules, read again to compile functions of them. Functions of a few modules are often requested in turn, and reading a large module takes
//! as long as compiling some of its functions.

use super::Kept;
use heddle_beamfile::BeamFile;
use heddle_runtime::code::Instance;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// Modules that are kept. (Decoded code takes ten times as much memory as the file.)
const MODULES: usize = 4;

struct Read {
    /// The module itself may go meanwhile.
    instance: Weak<Instance>,
    /// Addresses of its cells.
    cells: Range<usize>,
    beam: BeamFile,
}

/// The modules that were read last, the newest first.
#[derive(Default)]
pub struct Reads(Vec<Read>);

impl Reads {
    /// True if the cell is of one of the modules.
    pub fn has(&self, cell: usize) -> bool {
        self.0.iter().any(|read| read.cells.contains(&cell))
    }

    /// The code of the module. `None` if it was loaded without what the second tier needs.
    pub fn of(&mut self, instance: &Arc<Instance>) -> Option<&BeamFile> {
        let known = self.0.iter().position(|read| std::ptr::eq(read.instance.as_ptr(), Arc::as_ptr(instance)));
        let read = match known {
            Some(known) => self.0.remove(known),
            None => Read::of(instance)?,
        };
        self.0.truncate(MODULES - 1);
        self.0.insert(0, read);
        self.0.first().map(|read| &read.beam)
    }

    pub fn clear(&mut self) {
        self.0 = Vec::new();
    }
}

impl Read {
    fn of(instance: &Arc<Instance>) -> Option<Read> {
        let kept = instance.machine_code.as_deref().and_then(Kept::of)?;
        let beam = kept.tables.as_ref()?.beam().ok()?;
        let start = instance.code.as_ptr() as usize;
        Some(Read { instance: Arc::downgrade(instance), cells: start..start + instance.code.len() * 8, beam })
    }
}
