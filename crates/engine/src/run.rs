//! The engine as the scheduler sees it.

use crate::ctx::{Ctx, OUT_DIRTY_CPU, OUT_DIRTY_IO, OUT_EXIT, OUT_SUSPENDED, OUT_WAIT, OpFn, X_REGISTERS};
use crate::ops::calls::{apply_list, process_end, purging_fun, undefined_export, undefined_fun};
use crate::ops::control::still_hibernating;
use crate::ops::tasks::run_task;
use crate::{code_natives, native_code, second_tier};
use heddle_runtime::process::{FLAG_FLOATS, FLAG_HIBERNATES, FLAG_OVER_LIMIT, Outcome, Process, Stand};
use heddle_runtime::sched::{Engine, EngineThread};
use heddle_runtime::{exports, spawn};
use heddle_term::{Atom, Mfa, Term};

pub struct Interpreter;

/// Must be called before any export is made.
pub fn init() {
    const { assert!(std::mem::offset_of!(Ctx, x) == 0) };
    exports::set_undefined_handlers(
        undefined_export as *const () as usize,
        undefined_fun as *const () as usize,
        purging_fun as *const () as usize,
    );
    // These look like functions of arity 3, 0 and 0, so that a process may yield at them.
    let apply = Box::leak(Box::new([0u64, Term::NIL.raw(), Term::NIL.raw(), 3, apply_list as *const () as u64]));
    let exit = Box::leak(Box::new([0u64, Term::NIL.raw(), Term::NIL.raw(), 0, process_end as *const () as u64]));
    let task = Box::leak(Box::new([0u64, Term::NIL.raw(), Term::NIL.raw(), 0, run_task as *const () as u64]));
    crate::ops::tracing::install();
    second_tier::init(second_tier::Operations {
        floats: std::mem::offset_of!(Ctx, f),
        process: std::mem::offset_of!(Ctx, p),
        count_call: crate::ops::calls::count_call as *const () as u64,
        enter_watched: crate::ops::calls::enter_watched as *const () as u64,
        yield_at: crate::ops::calls::yield_at as *const () as u64,
    });
    let _ = heddle_runtime::code::nifs::OPERATIONS.set(heddle_runtime::code::nifs::NifOperations {
        func_info: crate::ops::calls::func_info as *const () as u64,
        start: crate::ops::nifs::nif_start as *const () as u64,
        again: crate::ops::nifs::nif_again as *const () as u64,
    });
    let _ = spawn::ENTRY_POINTS.set(spawn::EntryPoints { apply: &apply[4], exit: &exit[4], task: &task[4] });
}

struct Thread {
    ctx: Box<Ctx>,
}

impl Engine for Interpreter {
    fn native_of(&self, p: &Process) -> Option<Mfa> {
        native_code::of(p)
    }
    fn native_with_code(&self, cell: *const u64) -> Option<Mfa> {
        native_code::with_code(cell)
    }
    fn uses_old_code(&self, p: &Process, module: Atom) -> bool {
        code_natives::uses_old_code(p, module)
    }
    fn new_thread(&self) -> Box<dyn EngineThread> {
        Box::new(Thread {
            ctx: Box::new(Ctx {
                x: [Term::NIL; X_REGISTERS],
                f: [0.0; X_REGISTERS],
                p: std::ptr::null_mut(),
                fault: std::ptr::null(),
                fault_args: Term::NONE,
                thrown: heddle_runtime::Thrown::Exception,
                left: 0,
                build_base: std::ptr::null_mut(),
                build_at: 0,
                build_end: 0,
                build_term: Term::NIL,
                build_bits: 0,
                build_group: 0,
            }),
        })
    }
}

/// True if a collection since the last call found more than `max_heap_size`, and the process must end for that. Then its exit reason says
/// so, whatever else it was about to end for.
#[inline(always)]
pub(crate) fn ended_by_limit(p: &mut Process) -> bool {
    p.flags & FLAG_OVER_LIMIT != 0 && {
        p.flags &= !FLAG_OVER_LIMIT;
        heddle_runtime::exit::max_heap_reached(p)
    }
}

/// Calls the operation of the first cell. Operations keep the registers that belong to the caller; code of the second tier, at which they may
/// continue, does not.
///
/// # Safety
/// As an operation.
// SAFETY: it keeps what the caller's registers hold on the stack, and passes its other arguments to `code`, for which the caller answers.
#[unsafe(naked)]
unsafe extern "sysv64" fn enter_code(code: OpFn, ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64, r: i64) -> u64 {
    std::arch::naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset rbp, 0",
        "push rbx",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset rbx, 0",
        "push r12",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset r12, 0",
        "push r13",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset r13, 0",
        "push r14",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset r14, 0",
        "push r15",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset r15, 0",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov rdx, rcx",
        "mov rcx, r8",
        "mov r8, r9",
        "call rax",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "pop r15",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore r15",
        "pop r14",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore r14",
        "pop r13",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore r13",
        "pop r12",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore r12",
        "pop rbx",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore rbx",
        "pop rbp",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore rbp",
        "ret",
        ".cfi_endproc",
    )
}

impl EngineThread for Thread {
    fn run(&mut self, p: &mut Process, reductions: i64) -> (Outcome, i64) {
        let c: *mut Ctx = &mut *self.ctx;
        // SAFETY: the process' saved state is what an earlier run, or spawn, left; its code is verified.
        unsafe {
            (*c).p = p;
            (*c).fault = std::ptr::null();
            (*c).fault_args = Term::NONE;
            p.sync_limit();
            if ended_by_limit(p) {
                return (Outcome::Exit, reductions);
            }
            if p.flags & FLAG_HIBERNATES != 0 {
                if let Some(outcome) = still_hibernating(p) {
                    return (outcome, reductions);
                }
                p.flags &= !FLAG_HIBERNATES;
            }
            if p.stand == Stand::Starting {
                let first = p.first_call();
                (*c).x[0] = first.module.into();
                (*c).x[1] = first.function.into();
                (*c).x[2] = Term::from_raw(*p.stop);
                p.stop = p.stop.add(1);
                p.sync_limit();
            } else {
                let live = p.saved.len();
                (&mut (*c).x)[..live].copy_from_slice(&p.saved);
                p.saved.clear();
            }
            if p.flags & FLAG_FLOATS != 0 {
                p.flags &= !FLAG_FLOATS;
                let floats = std::mem::take(&mut p.rare().floats);
                (&mut (*c).f)[..floats.len()].copy_from_slice(&floats);
            }
            p.stand = Stand::Runs;
            (*c).left = 0;
            let ip = p.ip;
            let out = enter_code(*(ip as *const OpFn), ip, c, p.heap.htop, p.stop, reductions);
            let outcome = match out {
                // A process requested a collection while this one was about to wait, and the limit was exceeded: its next slice, now, ends
                // it.
                OUT_WAIT if p.flags & FLAG_OVER_LIMIT != 0 => Outcome::Yield,
                OUT_WAIT => Outcome::Wait,
                OUT_EXIT => Outcome::Exit,
                OUT_DIRTY_CPU => Outcome::DirtyCpu,
                OUT_DIRTY_IO => Outcome::DirtyIo,
                OUT_SUSPENDED => Outcome::Suspended,
                _ => Outcome::Yield,
            };
            p.stand = if outcome == Outcome::Wait { Stand::Waits } else { Stand::Stopped };
            let left = (*c).left;
            (outcome, left)
        }
    }

    /// The process stands at a native, at `ip`, with its arguments saved: runs the native and nothing else.
    fn run_dirty(&mut self, p: &mut Process) -> Outcome {
        // With one reduction, whatever follows the native yields at once or at its first call.
        self.run(p, 1).0
    }
}
