//! What is wrong with a control message.

use std::fmt;

/// Fields are counted as in Erlang: the operation is field 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Malformed {
    /// It is no tuple with a small integer first.
    NoOperation,
    UnknownOperation(i64),
    /// The operation has another number of fields.
    Arity {
        operation: u8,
        arity: usize,
    },
    /// A field is not what it must be.
    Field {
        operation: u8,
        field: usize,
        expected: &'static str,
    },
    /// A field is an identifier of another node than it must be.
    Node {
        operation: u8,
        expected: &'static str,
    },
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::NoOperation => write!(f, "no tuple with an operation"),
            Malformed::UnknownOperation(operation) => write!(f, "unknown operation {operation}"),
            Malformed::Arity { operation, arity } => write!(f, "operation {operation} with {arity} fields"),
            Malformed::Field { operation, field, expected } => write!(f, "field {field} of operation {operation} is no {expected}"),
            Malformed::Node { operation, expected } => write!(f, "operation {operation} without {expected}"),
        }
    }
}
