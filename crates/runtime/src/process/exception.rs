//! An exception that a process raises, as natives and the engine pass it on.

use heddle_term::{Atom, Term, am};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ExceptionClass {
    Error = 0,
    Exit = 1,
    Throw = 2,
}

impl ExceptionClass {
    pub fn atom(self) -> Atom {
        match self {
            ExceptionClass::Error => am::ERROR,
            ExceptionClass::Exit => am::EXIT,
            ExceptionClass::Throw => am::THROW,
        }
    }
}

#[derive(Clone, Copy)]
pub struct Exception {
    pub class: ExceptionClass,
    pub reason: Term,
    /// The stack trace that was passed to `erlang:raise/3` or kept by a re-raise, or NONE: the engine makes one.
    pub trace: Term,
    /// `error_info` map entries that the native adds to its frame: cause term or NONE.
    pub cause: Term,
    /// Argument list for the first frame (`erlang:error/2,3`), or NONE.
    pub args: Term,
    /// Extra frame information (`error_info` map given to erlang:error/3) or NONE.
    pub info: Term,
}

impl Exception {
    pub const NONE: Exception = Exception {
        class: ExceptionClass::Error,
        reason: Term::NONE,
        trace: Term::NONE,
        cause: Term::NONE,
        args: Term::NONE,
        info: Term::NONE,
    };
}
