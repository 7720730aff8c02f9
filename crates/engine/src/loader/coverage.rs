//! Places counters in a module that is loaded with native coverage.

use super::emitter::Emitter;
use crate::ops::coverage;
use heddle_abi::opcodes::Op;
use heddle_abi::settings::CoverageMode;
use heddle_beamfile::{Location, Operand, Verified};
use heddle_runtime::coverage::{Coverage, CoveredPlace, mode_of_module};

/// The counters, and the position of the walk over the code.
pub struct Recorder {
    pub coverage: Coverage,
    /// The place of the last line instruction of the current function, and if it has a counter.
    last: Option<(Location, bool)>,
}

impl Recorder {
    pub fn new(beam: &Verified) -> Recorder {
        let mode = mode_of_module(beam.lines.has_executable, beam.lines.is_forced);
        let most = match mode {
            CoverageMode::None => 0,
            _ if mode.is_of_functions() => beam.code.functions.len(),
            _ => beam.code.instrs.iter().filter(|instr| instr.op == Op::ExecutableLine).count(),
        };
        Recorder { coverage: Coverage::new(mode, most), last: None }
    }

    /// A line instruction. The one before a function (`begins`) starts anew even at the same place.
    pub fn line(&mut self, location: Location, begins: bool) {
        if begins || self.last.is_none_or(|(last, _)| last != location) {
            self.last = Some((location, false));
        }
    }
}

impl Emitter<'_> {
    pub fn count_function(&mut self) {
        if self.recorder.coverage.mode.is_of_functions() {
            let counter = self.recorder.coverage.counter(self.functions.len() - 1);
            self.count(counter);
        }
    }

    /// Called after the line instruction of the same place.
    pub fn count_line(&mut self, id: Operand) {
        if !self.recorder.coverage.mode.is_of_lines() {
            return;
        }
        let id = Emitter::number(id);
        let Some((location, has_counter)) = &mut self.recorder.last else { return };
        let counter = if std::mem::replace(has_counter, true) {
            self.recorder.coverage.last_is(id)
        } else {
            let line = Emitter::stock_line(location.line);
            self.recorder.coverage.add(CoveredPlace { line, id, function: self.functions.len() as u32 - 1 })
        };
        self.count(counter);
    }

    fn count(&mut self, counter: u64) {
        self.op(if self.recorder.coverage.mode.counts() { coverage::count_execution } else { coverage::executed });
        self.cell(counter);
    }
}
