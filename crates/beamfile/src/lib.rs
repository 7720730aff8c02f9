//! Reads and verifies `.beam` files. What comes out is inert data: no terms, no addresses, nothing of a running machine.
//!
//! ```no_run
//! use heddle_beamfile::{BeamFile, Operand};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let bytes = std::fs::read("lists.beam")?;
//! let beam = BeamFile::parse(&bytes)?;
//! for function in &beam.code.functions {
//!     println!("{}/{}", beam.atoms.get(function.name).unwrap_or("?"), function.arity);
//!     for instr in beam.code.body(function) {
//!         for &operand in beam.code.operands(instr) {
//!             match operand {
//!                 Operand::List(list) => println!("  {:?}", beam.code.list(list)),
//!                 Operand::Literal(index) => println!("  {:?}", beam.literals.get(index)),
//!                 other => println!("  {other:?}"),
//!             }
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! All counts are checked against the bytes that are there before anything is allocated for them, and nothing here panics,
//! whatever the input.
#![forbid(unsafe_code)]

mod atoms;
mod beam;
mod checksum;
mod code;
mod compact;
pub mod container;
mod error;
mod functions;
mod lines;
mod literals;
mod operand;
mod reader;
mod tables;
mod types;
mod verify;

pub use atoms::{AtomIndex, AtomTable};
pub use beam::BeamFile;
pub use checksum::module_md5;
pub use code::{Code, Instr};
pub use error::{BeamError, ChunkId, CodeError};
pub use functions::{Function, Labels};
pub use lines::{LineTable, Location};
pub use literals::LiteralTable;
pub use operand::{Alloc, Bytes, List, Operand, Reg, X_REGS, Y_REGS};
pub use tables::{ARITY_MAX, FunctionRef, Import, Lambda};
pub use types::ValueType;
pub use verify::{Verified, verify};
