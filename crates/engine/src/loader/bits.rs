//! Bit syntax of OTP 25 and later: bs_create_bin, bs_match and their company.

use crate::loader::emitter::Emitter;
use heddle_beamfile::{BeamError, Instr};

impl Emitter<'_> {
    /// False if the instruction is none of these.
    pub fn bits(&mut self, _instr: &Instr, _zeal: bool) -> Result<bool, BeamError> {
        Ok(false)
    }
}
