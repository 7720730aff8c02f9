//! What is known at a place of a segment.

use crate::X_LIMIT;
use cranelift_codegen::ir::Value;
use std::collections::HashMap;

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    Small,
    Cons,
    Nil,
    Atom,
    Tuple,
    /// A tuple with this header.
    TupleOf(u64),
    Float,
}

impl Known {
    pub fn is_tuple(self) -> bool {
        matches!(self, Known::Tuple | Known::TupleOf(_))
    }
    pub fn is_immediate(self) -> bool {
        matches!(self, Known::Small | Known::Nil | Known::Atom)
    }
}

/// The value of a register.
#[derive(Clone, Copy)]
pub struct Held {
    pub value: Value,
    /// The register file does not have it yet.
    pub is_new: bool,
}

/// What is known of a match context. Only the code of the segment moves it.
#[derive(Clone, Copy)]
pub struct Match {
    /// Bits of the original: the position, and the end.
    pub at: Value,
    pub end: Value,
    /// Address of the first byte of the original.
    pub base: Option<Value>,
}

#[derive(Clone)]
pub struct State {
    /// The top of the heap, less `heap_bytes`.
    pub h: Value,
    pub heap_bytes: i32,
    /// The top of the stack, less `stack_bytes`.
    pub s: Value,
    pub stack_bytes: i32,
    /// Reductions left.
    pub r: Value,
    /// No function was traced when the code looked last.
    pub is_untraced: bool,
    pub x: [Option<Held>; X_LIMIT as usize],
    /// By the slot's offset in bytes from `s`.
    pub y: HashMap<i32, Value>,
    pub f: HashMap<u16, Held>,
    pub known: HashMap<Value, Known>,
    pub matches: HashMap<Value, Match>,
}

impl State {
    /// All registers are in memory.
    pub fn new(h: Value, s: Value, r: Value) -> State {
        State {
            h,
            heap_bytes: 0,
            s,
            stack_bytes: 0,
            r,
            is_untraced: false,
            x: [None; X_LIMIT as usize],
            y: HashMap::new(),
            f: HashMap::new(),
            known: HashMap::new(),
            matches: HashMap::new(),
        }
    }
}
