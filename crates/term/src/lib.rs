//! Terms: the tagged word, boxed layouts, heaps to build them in, and what is defined on terms alone.
//!
//! Everything allocates through `&mut Heap` and nothing collects or moves, so terms in locals stay good. Nothing recurses
//! over the depth of a term.
//!
//! | module | what |
//! |---|---|
//! | `order` | `cmp`, `eq` (`==`), `exact_eq` (`=:=`), `cmp_exact` (`erts_internal:cmp_term`, map keys) |
//! | `hash` | `internal_hash`, `salted_hash`, `phash2(term, range)`, `phash(term, range)` |
//! | `big` | `add sub mul div rem divide neg abs band bor bxor bnot bsl bsr` -> `Result<Term, ArithError>`; `to_text from_text from_float to_f64 to_i64 to_u64 from_i128 from_bytes to_bytes` |
//! | `map` | `get put update take remove merge update_many from_pairs from_ks_vs keys values to_list size empty`, `MapIter`, `next_batch` |
//! | `list` | `ListIter length to_vec reverse latin1_bytes unicode_string iolist_to_vec iolist_size walk_iolist` |
//! | `etf` | `encode encode_body external_size decode decode_body decode_literal` |
//! | `text` | `display::{display, to_string, identifier}`, `float::{scientific, decimals, short}`, `float_parse::parse` |
//! | `fun` | `entry export creator_and_free make make_export` |
//! | `ident` | `PidView PortView RefView alias_pid local_ref_words` |
//! | `node` | name and creation of this node |
//! | `code_hooks` | how decoding finds exports, fun entries and magic references |

pub mod am;
pub mod area;
pub mod atom;
pub mod big;
mod big_bits;
mod big_convert;
pub mod bits;
pub mod boxed;
pub mod code_cell;
pub mod code_hooks;
mod compare;
pub mod complain;
pub mod copy;
pub mod etf;
pub mod fun;
mod hamt;
pub mod hash;
pub mod heap;
pub mod held;
pub mod holding;
pub mod ident;
pub mod list;
pub mod literal;
pub mod lives;
pub mod map;
mod map_iter;
#[cfg(test)]
mod model_tests;
pub mod node;
pub mod open;
pub mod order;
mod phash;
mod quiet;
pub mod refbin;
pub mod resource;
pub mod term;
pub mod text;
pub mod young;

pub use atom::Atom;
pub use boxed::{Header, Kind};
pub use code_cell::{Export, FunEntry, Mfa};
pub use heap::{Fragment, Heap, OffHeap};
pub use resource::Resource;
pub use term::Term;
