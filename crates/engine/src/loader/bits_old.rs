//! Bit syntax of OTP 24: bs_init2, bs_put_*, bs_append and their company.

use crate::loader::emitter::Emitter;
use heddle_beamfile::{BeamError, Instr};

impl Emitter<'_> {
    /// False if the instruction is none of these.
    pub fn bits_old(&mut self, _instr: &Instr, _zeal: bool) -> Result<bool, BeamError> {
        Ok(false)
    }
}
