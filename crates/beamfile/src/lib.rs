//! Reads and verifies `.beam` files. What comes out is inert data: no terms, no addresses, nothing of a running VM.
//!
//! ```no_run
//! use heddle_beamfile::{Operand, Verified};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let bytes = std::fs::read("lists.beam")?;
//! let beam = Verified::load(&bytes)?;
//! for function in &beam.code.functions {
//!     println!("{}/{}", beam.atoms.get(function.name).unwrap_or("?"), function.arity);
//!     for instr in beam.code.body(function) {
//!         println!("  {}", instr.op.name());
//!         for &operand in beam.code.operands(instr) {
//!             match operand {
//!                 Operand::Label(label) => println!("    to instruction {:?}", beam.code.labels.instr(label)),
//!                 Operand::List(list) => println!("    {:?}", beam.code.list(list)),
//!                 Operand::Literal(index) => println!("    {:?}", beam.literals.get(index)),
//!                 Operand::Typed { reg, type_index } => println!("    {reg:?} {:?}", beam.value_type(type_index)),
//!                 other => println!("    {other:?}"),
//!             }
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! * [`BeamFile::parse`] gives well-formed tables; [`Verified::load`] (or [`Verified::new`]) also proves that the code keeps to the
//!   rules the VM relies on, and derefs to [`BeamFile`]. Load only verified files; `src/verify.rs` lists what the proof
//!   covers and what the VM must still guard.
//! * [`BeamFile`]: `atoms`, `imports`, `exports`, `locals`, `lambdas`, `literals` (external terms), `strings`, `lines`, `types`,
//!   `code`, raw `attributes`/`compile_info`/`meta`, `chunks`, [`BeamFile::module_md5`]. Atom indices are 1-based, atom 1 is the
//!   module.
//! * [`Code`]: `instrs` in file order, 12 bytes each; operands in an arena, 16 bytes each: [`Code::operands`] has exactly
//!   `op.arity()` of them, lists are ranges of the same arena ([`Code::list`]). `functions` give name, arity, entry label and
//!   instruction range; [`Labels::instr`] leads from a label to its instruction.
//! * [`messages::analyse`] judges which constructions will be sent.
//! * [`Code::error`] makes an error that names function, instruction and byte, for a loader that cannot load an instruction.
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
pub mod messages;
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
pub use verify::kinds::{Kind as OperandKind, kinds as operand_kinds};
pub use verify::lists::{Command as MatchCommand, command as match_command};
pub use verify::{Facts, Verified, verify};
