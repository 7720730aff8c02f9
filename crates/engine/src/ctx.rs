//! The state that every operation works on, and the way in which one operation continues at the next.
//!
//! Code is an array of 64-bit cells: the address of an operation, then its operands, one cell each. Operations are functions
//! of one signature that end in a call of the next: LLVM turns that into a jump from opt-level 1 on (checked by
//! `tests/tail-calls`). Rules for an operation:
//!
//! 1. `ip`, `h` (heap top), `s` (stack top) and `r` (reductions left) live in arguments. Before anything that may read the process
//!    (natives, collection, signals) they are stored with `save!`; after anything that may have moved the heap or the stack they are loaded
//!    again with `load!`.
//! 2. No local with a destructor is alive at the call of the next operation, and no reference to a local escapes: otherwise the call is not
//!    a jump and the native stack grows.
//! 3. A term read from a register before a collection is not used after it: read it again.
//! 4. X registers above `live` are dead at a point that collects.
//! 5. Slow paths are functions of their own (`#[cold]`), so that hot operations need no native frame.

pub use crate::header::{FUNC_HEADER_CELLS, entry_arity};
use heddle_runtime::process::{Process, STACK_SLACK_WORDS};
use heddle_term::Term;
use heddle_term::term::TAG_CONTINUATION;

pub const X_REGISTERS: usize = 1024;

/// The register file of one thread.
#[repr(C)]
pub struct Ctx {
    pub x: [Term; X_REGISTERS],
    pub f: [f64; X_REGISTERS],
    pub p: *mut Process,
    /// The native whose call failed: its frame comes first in the stack trace. Null for errors of plain instructions.
    pub fault: *const heddle_term::Export,
    /// Arguments of the failed native or function, as a list, or NONE.
    pub fault_args: Term,
    /// Why the last native returned no result.
    pub thrown: heddle_runtime::Thrown,
    /// Reductions left when the engine returned the process to the scheduler.
    pub left: i64,
    /// The bitstring that OTP 24's `bs_put_` instructions are filling: address, next bit, end.
    pub build_base: *mut u8,
    pub build_at: u64,
    pub build_end: u64,
    /// The bitstring that a chain of `ops::bits::chain` is filling (which also uses `build_base`). Nothing collects between
    /// the chain's begin and end, so it is no root.
    pub build_term: Term,
    /// Bits of the chain's segments whose sizes are known at run time only.
    pub build_bits: u64,
    /// Gathers fields smaller than a byte; also holds the bits that `bs_match` reads at once, first bit on top.
    pub build_group: u64,
}

pub type OpFn = unsafe extern "sysv64" fn(*const u64, *mut Ctx, *mut u64, *mut u64, i64) -> u64;

/// Results of the dispatch loop.
pub const OUT_YIELD: u64 = 0;
pub const OUT_WAIT: u64 = 1;
pub const OUT_EXIT: u64 = 2;
pub const OUT_DIRTY_CPU: u64 = 3;
pub const OUT_DIRTY_IO: u64 = 4;
pub const OUT_SUSPENDED: u64 = 5;

/// Defines operations. Inside, `next!`/`goto!` need the five names, which the definition chooses.
#[macro_export]
macro_rules! ops {
    ($( $(#[$meta:meta])* fn $name:ident $(<$($g:ident : $b:path),*>)? ($ip:ident, $c:ident, $h:ident, $s:ident, $r:ident) $body:block )*) => {
        $(
            $(#[$meta])*
            // A section of their own: operations lie together, and `tests/tail-calls` tells them from their helpers by it.
            #[unsafe(link_section = "heddle_ops")]
            #[allow(unused_mut, unused_variables, unused_assignments, clippy::missing_safety_doc, clippy::macro_metavars_in_unsafe)]
            pub unsafe extern "sysv64" fn $name $(<$($g: $b),*>)? (
                mut $ip: *const u64, $c: *mut $crate::ctx::Ctx, mut $h: *mut u64, mut $s: *mut u64, mut $r: i64,
            ) -> u64 {
                // SAFETY: `ip` is inside verified code; registers and stack are as the verifier proved (see `ctx`).
                unsafe { $body }
            }
        )*
    };
}

/// What follows an operation without a jump: the next operation's body inlined, or the jump (`Dispatch`).
pub trait Follow {
    /// # Safety
    /// As an operation.
    unsafe fn go(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64, r: i64) -> u64;
}

/// An operation whose body may be followed by another one's in one function (see `loader::fuse`).
pub trait Fusable {
    /// # Safety
    /// As an operation.
    unsafe fn go<N: Follow>(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64, r: i64) -> u64;
}

/// The end of a fused operation: continues at the next cell's operation.
pub struct Dispatch;
/// First `A`, then `N`.
pub struct Then<A: Fusable, N: Follow>(std::marker::PhantomData<(A, N)>);

impl Follow for Dispatch {
    #[inline(always)]
    unsafe fn go(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64, r: i64) -> u64 {
        crate::profile::sequential(ip);
        // SAFETY: the cell at `ip` holds an operation.
        unsafe { (*(ip as *const OpFn))(ip, c, h, s, r) }
    }
}
impl<A: Fusable, N: Follow> Follow for Then<A, N> {
    #[inline(always)]
    unsafe fn go(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64, r: i64) -> u64 {
        // SAFETY: `ip` is at the cells of `A`, and registers and stack are as an operation finds them.
        unsafe { A::go::<N>(ip, c, h, s, r) }
    }
}

/// A comparison as the first of a fused operation.
pub trait Compare {
    /// # Safety
    /// As an operation.
    unsafe fn operands(ip: *const u64, c: *mut Ctx, s: *mut u64) -> (Term, Term);
    /// The result of the comparison for two small integers.
    fn holds(a: Term, b: Term) -> bool;
    /// The operation for all other terms.
    const SLOW: OpFn;
}

/// Cells of a comparison: operation, a, b, label.
pub const COMPARE_CELLS: usize = 4;

/// A comparison with what follows it in both cases: `A` if it holds, `B` at its label.
pub struct Either<T: Compare, A: Follow, B: Follow>(std::marker::PhantomData<(T, A, B)>);

impl<T: Compare, A: Follow, B: Follow> Follow for Either<T, A, B> {
    #[inline(always)]
    unsafe fn go(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64, r: i64) -> u64 {
        // SAFETY: by contract; the loader checked that the operations at the label are those of `B`.
        unsafe {
            let (a, b) = T::operands(ip, c, s);
            if (a.raw() | b.raw()) & 15 != 0 {
                return (T::SLOW)(ip, c, h, s, r);
            }
            if T::holds(a, b) {
                return A::go(ip.add(COMPARE_CELLS), c, h, s, r);
            }
            B::go(*ip.add(COMPARE_CELLS - 1) as *const u64, c, h, s, r)
        }
    }
}

/// Several operations as one.
///
/// # Safety
/// As an operation; the cells from `ip` on are those of all the operations in it.
#[unsafe(link_section = "heddle_ops")]
pub unsafe extern "sysv64" fn fused<T: Follow>(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64, r: i64) -> u64 {
    // SAFETY: the cells from `ip` on are those of `T`, and registers and stack are as an operation finds them.
    unsafe { T::go(ip, c, h, s, r) }
}

/// Defines operations that can be fused with the one after them: as `ops!`, with a name for what follows, at which they continue with
/// `then!`.
#[macro_export]
macro_rules! fusable {
    ($( $(#[$meta:meta])* fn $name:ident $(<$($g:ident : $b:path),*>)? ($ip:ident, $c:ident, $h:ident, $s:ident, $r:ident; $n:ident) $body:block )*) => {
        $(
            #[allow(non_camel_case_types)]
            pub struct $name $(<$($g: $b),*>)? {
                _of: std::marker::PhantomData<($($($g,)*)?)>,
            }
            impl $(<$($g: $b),*>)? $crate::ctx::Fusable for $name $(<$($g),*>)? {
                #[inline(always)]
                #[allow(unused_mut, unused_variables, unused_assignments, clippy::macro_metavars_in_unsafe)]
                unsafe fn go<$n: $crate::ctx::Follow>(
                    mut $ip: *const u64, $c: *mut $crate::ctx::Ctx, mut $h: *mut u64, mut $s: *mut u64, mut $r: i64,
                ) -> u64 {
                    // SAFETY: `ip` is inside verified code; registers and stack are as the verifier proved (see `ctx`).
                    unsafe { $body }
                }
            }
            $(#[$meta])*
            #[unsafe(link_section = "heddle_ops")]
            #[allow(clippy::missing_safety_doc)]
            pub unsafe extern "sysv64" fn $name $(<$($g: $b),*>)? (
                ip: *const u64, c: *mut $crate::ctx::Ctx, h: *mut u64, s: *mut u64, r: i64,
            ) -> u64 {
                // SAFETY: this is an operation: registers and stack are as the verifier proved.
                unsafe { <$name $(<$($g),*>)? as $crate::ctx::Fusable>::go::<$crate::ctx::Dispatch>(ip, c, h, s, r) }
            }
        )*
    };
}

/// Continues with the operation `n` cells further, which may be fused into this one.
#[macro_export]
macro_rules! then {
    ($follow:ident, $ip:ident, $c:ident, $h:ident, $s:ident, $r:ident; $n:expr) => {{
        let next_ip = $ip.add($n);
        return <$follow as $crate::ctx::Follow>::go(next_ip, $c, $h, $s, $r);
    }};
}

/// Continues with the operation `n` cells further.
#[macro_export]
macro_rules! next {
    ($ip:ident, $c:ident, $h:ident, $s:ident, $r:ident; $n:expr) => {{
        let next_ip = $ip.add($n);
        $crate::profile::sequential(next_ip);
        return (*(next_ip as *const $crate::ctx::OpFn))(next_ip, $c, $h, $s, $r);
    }};
}

/// Continues at a function's entry, for one reduction, or yields there.
#[macro_export]
macro_rules! enter {
    ($target:expr, $c:ident, $h:ident, $s:ident, $r:ident) => {{
        let target: *const u64 = $target;
        $r -= 1;
        if $r > 0 {
            $crate::goto!(target, $c, $h, $s, $r)
        }
        return $crate::ops::calls::yield_at(target, $c, $h, $s, $r);
    }};
}

/// Continues at a code address.
#[macro_export]
macro_rules! goto {
    ($target:expr, $c:ident, $h:ident, $s:ident, $r:ident) => {{
        let next_ip: *const u64 = $target;
        $crate::profile::jumped(next_ip);
        return (*(next_ip as *const $crate::ctx::OpFn))(next_ip, $c, $h, $s, $r);
    }};
}

/// Stores the heap and stack tops in the process.
#[macro_export]
macro_rules! save {
    ($c:ident, $h:ident, $s:ident) => {{
        let p = &mut *(*$c).p;
        p.heap.htop = $h;
        p.stop = $s;
        p.sync_limit();
        p
    }};
}

/// Loads the heap and stack tops from the process.
#[macro_export]
macro_rules! load {
    ($c:ident, $h:ident, $s:ident) => {{
        $h = (*(*$c).p).heap.htop;
        $s = (*(*$c).p).stop;
    }};
}

/// Saves in the process that it continues at `ip` with its first `live` registers.
///
/// # Safety
/// A process runs; `x[0..live]` are initialised terms.
#[inline(always)]
pub unsafe fn leave_at(c: *mut Ctx, ip: *const u64, live: usize, r: i64) {
    // SAFETY: a process runs, and `x[0..live]` are initialised terms.
    unsafe {
        let p = &mut *(*c).p;
        p.ip = ip;
        p.saved.clear();
        p.saved.extend_from_slice(&(&(*c).x)[..live]);
        (*c).left = r;
    }
}

// ---- operands ----

/// Tag of a register operand in operations that decode their operands when they run. No term has these low bits.
const TAG_REGISTER: u64 = 0b101;
const REGISTER_Y: u64 = 0b1000;

/// The cell of a specialised operation for a register: its offset in bytes.
#[inline]
pub fn reg_offset(index: u16) -> u64 {
    index as u64 * 8
}

pub fn encode_x(index: u16) -> u64 {
    (index as u64 * 8) << 8 | TAG_REGISTER
}
pub fn encode_y(index: u16) -> u64 {
    (index as u64 * 8) << 8 | REGISTER_Y | TAG_REGISTER
}

/// Value of an operand cell that is a term or an encoded register.
///
/// # Safety
/// The cell is an operand of verified code; registers are initialised.
#[inline(always)]
pub unsafe fn any(cell: u64, c: *mut Ctx, s: *mut u64) -> Term {
    if cell & 7 != TAG_REGISTER {
        return Term::from_raw(cell);
    }
    // SAFETY: a register operand of verified code names an initialised register.
    unsafe { Term::from_raw(*reg_ptr(cell, c, s)) }
}

/// Address of the register named by an encoded cell.
///
/// # Safety
/// As `any`; the cell is an encoded register.
#[inline(always)]
pub unsafe fn reg_ptr(cell: u64, c: *mut Ctx, s: *mut u64) -> *mut u64 {
    debug_assert!(cell & 7 == TAG_REGISTER);
    let base = if cell & REGISTER_Y != 0 { s as *mut u8 } else { c as *mut u8 };
    // SAFETY: `cell` is an encoded register, so its offset lies within the X registers or the current frame.
    unsafe { base.add((cell >> 8) as usize).cast::<u64>() }
}

/// # Safety
/// As `reg_ptr`.
#[inline(always)]
pub unsafe fn put(cell: u64, c: *mut Ctx, s: *mut u64, value: Term) {
    // SAFETY: `cell` is an encoded register.
    unsafe { *reg_ptr(cell, c, s) = value.raw() }
}

/// Reads the bound of a short loop again in each round. Volatile, so that LLVM neither unrolls nor vectorises the loop: for the few rounds
/// of such loops that would be slower, and need many registers, for which the whole operation would get a native frame.
///
/// # Safety
/// `from` is readable.
#[inline(always)]
pub unsafe fn bound(from: *const u64) -> usize {
    // SAFETY: `from` is readable.
    unsafe { std::ptr::read_volatile(from) as usize }
}

/// The kind of a source operand of a specialised operation.
pub trait Src {
    /// # Safety
    /// The cell is what the loader emitted for this kind.
    unsafe fn get(cell: u64, c: *mut Ctx, s: *mut u64) -> Term;
}

pub trait Dst {
    /// # Safety
    /// The cell is what the loader emitted for this kind.
    unsafe fn set(cell: u64, c: *mut Ctx, s: *mut u64, value: Term);
}

pub struct X;
pub struct Y;
/// A constant: the cell is the term.
pub struct K;
/// A fixed X register. Only fused operations use it: there a value that one of them stores and the next loads need not go through memory.
pub struct R<const N: usize>;
/// Decoded when the operation runs.
pub struct Any;

impl Src for X {
    #[inline(always)]
    unsafe fn get(cell: u64, c: *mut Ctx, _: *mut u64) -> Term {
        // SAFETY: the offset lies within the X registers.
        unsafe { Term::from_raw(*(c as *const u8).add(cell as usize).cast::<u64>()) }
    }
}
impl<const N: usize> Src for R<N> {
    #[inline(always)]
    unsafe fn get(_: u64, c: *mut Ctx, _: *mut u64) -> Term {
        const { assert!(N < X_REGISTERS) };
        // SAFETY: there is such a register.
        unsafe { *(&raw const (*c).x).cast::<Term>().add(N) }
    }
}
impl<const N: usize> Dst for R<N> {
    #[inline(always)]
    unsafe fn set(_: u64, c: *mut Ctx, _: *mut u64, value: Term) {
        const { assert!(N < X_REGISTERS) };
        // SAFETY: there is such a register.
        unsafe { *(&raw mut (*c).x).cast::<Term>().add(N) = value }
    }
}
impl Src for Y {
    #[inline(always)]
    unsafe fn get(cell: u64, _: *mut Ctx, s: *mut u64) -> Term {
        // SAFETY: the offset lies within the current frame.
        unsafe { Term::from_raw(*(s as *const u8).add(cell as usize).cast::<u64>()) }
    }
}
impl Src for K {
    #[inline(always)]
    unsafe fn get(cell: u64, _: *mut Ctx, _: *mut u64) -> Term {
        Term::from_raw(cell)
    }
}
impl Src for Any {
    #[inline(always)]
    unsafe fn get(cell: u64, c: *mut Ctx, s: *mut u64) -> Term {
        // SAFETY: the cell is an operand of verified code; registers are initialised.
        unsafe { any(cell, c, s) }
    }
}
impl Dst for X {
    #[inline(always)]
    unsafe fn set(cell: u64, c: *mut Ctx, _: *mut u64, value: Term) {
        // SAFETY: the offset lies within the X registers.
        unsafe { *(c as *mut u8).add(cell as usize).cast::<u64>() = value.raw() }
    }
}
impl Dst for Y {
    #[inline(always)]
    unsafe fn set(cell: u64, _: *mut Ctx, s: *mut u64, value: Term) {
        // SAFETY: the offset lies within the current frame.
        unsafe { *(s as *mut u8).add(cell as usize).cast::<u64>() = value.raw() }
    }
}
impl Dst for Any {
    #[inline(always)]
    unsafe fn set(cell: u64, c: *mut Ctx, s: *mut u64, value: Term) {
        // SAFETY: `cell` is an encoded register.
        unsafe { put(cell, c, s, value) }
    }
}

// ---- continuations ----

#[inline(always)]
pub fn continuation(ip: *const u64) -> u64 {
    ip as u64 | TAG_CONTINUATION
}

#[inline(always)]
pub fn continuation_target(word: u64) -> *const u64 {
    (word - TAG_CONTINUATION) as *const u64
}

/// Free words between heap top and stack top, less the slack.
#[inline(always)]
pub fn room(h: *mut u64, s: *mut u64) -> isize {
    (s as isize - h as isize) / 8 - STACK_SLACK_WORDS as isize
}

/// True when `need` words fit.
#[inline(always)]
pub fn fits(h: *mut u64, s: *mut u64, need: usize) -> bool {
    s as isize - h as isize >= ((need + STACK_SLACK_WORDS) * 8) as isize
}
