//! Words in machine code that differ from one run of the VM to the next: addresses, and terms with addresses. Code is compiled without them, and they
//! are filled in where it is put. So code can be kept in a file.

use crate::host::Addresses;
use cranelift_codegen::ir::UserExternalName;
use heddle_term::term::TAG_CONTINUATION;
use heddle_term::{Export, FunEntry, Term};

/// What a word stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Symbol {
    /// Address of the cell.
    Cell(u32),
    /// The return address on the stack that leads to the cell.
    Continuation(u32),
    /// The mark on the stack of an exception handler that begins at the cell.
    Handler(u32),
    /// The first tier's operation of the cell.
    Operation(u32),
    /// Address of the export that this import stands for.
    Export(u32),
    /// Address of the entry of this fun.
    Fun(u32),
    /// The literal with this index.
    Literal(u32),
    /// Something of the VM.
    Host(HostWord),
}

/// Fields of [`crate::Host`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum HostWord {
    FixedStart,
    FixedBytes,
    Traced,
    YieldAt,
    MapGet,
}

const HOST_WORDS: [HostWord; 5] = [HostWord::FixedStart, HostWord::FixedBytes, HostWord::Traced, HostWord::YieldAt, HostWord::MapGet];

impl Symbol {
    /// As two numbers: the kind and which of them.
    pub fn numbers(self) -> (u32, u32) {
        match self {
            Symbol::Cell(cell) => (0, cell),
            Symbol::Continuation(cell) => (1, cell),
            Symbol::Handler(cell) => (2, cell),
            Symbol::Operation(cell) => (3, cell),
            Symbol::Export(index) => (4, index),
            Symbol::Fun(index) => (5, index),
            Symbol::Literal(index) => (6, index),
            Symbol::Host(word) => (7, word as u32),
        }
    }

    /// The symbol of [`Symbol::numbers`].
    pub fn of(kind: u32, which: u32) -> Option<Symbol> {
        Some(match kind {
            0 => Symbol::Cell(which),
            1 => Symbol::Continuation(which),
            2 => Symbol::Handler(which),
            3 => Symbol::Operation(which),
            4 => Symbol::Export(which),
            5 => Symbol::Fun(which),
            6 => Symbol::Literal(which),
            7 => Symbol::Host(*HOST_WORDS.get(which as usize)?),
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> UserExternalName {
        let (namespace, index) = self.numbers();
        UserExternalName { namespace, index }
    }

    /// The word, or `None` if the module has no such thing.
    pub fn value(self, at: &Addresses<'_>) -> Option<u64> {
        let cell = |cell: u32| at.cell(cell) as u64;
        Some(match self {
            Symbol::Cell(index) => cell(index),
            Symbol::Continuation(index) => cell(index) | TAG_CONTINUATION,
            Symbol::Handler(index) => Term::catch_marker(cell(index) >> 3).raw(),
            Symbol::Operation(index) => (at.operation)(index),
            Symbol::Export(index) => *at.imports.get(index as usize)? as *const Export as u64,
            Symbol::Fun(index) => *at.lambdas.get(index as usize)? as *const FunEntry as u64,
            Symbol::Literal(index) => at.literals.get(index as usize)?.raw(),
            Symbol::Host(word) => match word {
                HostWord::FixedStart => at.host.fixed[0] as u64,
                HostWord::FixedBytes => at.host.fixed[1] as u64,
                HostWord::Traced => at.host.traced as u64,
                HostWord::YieldAt => at.host.yield_at as u64,
                HostWord::MapGet => at.host.map_get as u64,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_come_back_from_their_numbers() {
        let host = HOST_WORDS.map(Symbol::Host);
        let all = [Symbol::Cell(7), Symbol::Continuation(0), Symbol::Handler(1), Symbol::Operation(2), Symbol::Export(3)];
        for symbol in all.into_iter().chain([Symbol::Fun(u32::MAX), Symbol::Literal(5)]).chain(host) {
            let (kind, which) = symbol.numbers();
            assert_eq!(Symbol::of(kind, which), Some(symbol));
        }
        assert_eq!(Symbol::of(7, HOST_WORDS.len() as u32), None);
        assert_eq!(Symbol::of(8, 0), None);
    }
}
