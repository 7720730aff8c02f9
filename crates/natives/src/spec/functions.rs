//! The functions that guards and bodies may call.

use heddle_runtime::process::{NativeFn, Process, Thrown};
use heddle_runtime::{exports, natives};
use heddle_term::code_cell::Mfa;
use heddle_term::order::{cmp, eq, exact_eq};
use heddle_term::{Atom, Term, am, list, map};
use std::cmp::Ordering;

/// A function that is called directly. Returns None if the call raises.
pub type Direct = fn(&mut Process, &[Term]) -> Option<Term>;

#[derive(Clone, Copy)]
pub enum Function {
    Direct(Direct),
    Native(NativeFn),
}

/// Functions of the trace dialect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Message,
    ReturnTrace,
    ExceptionTrace,
    Display,
    Caller,
    GetSeqToken,
    IsSeqTrace,
    CallerLine,
    Stack,
    // The rest has no effect where a specification is only tried out.
    GetControlWord,
    SetControlWord,
    Enable,
    Disable,
    Trace,
    Silent,
    ProcessDump,
    SetSeqToken,
}

impl Action {
    /// True if guards may use it, not only bodies.
    pub fn is_for_guards(self) -> bool {
        matches!(self, Action::IsSeqTrace | Action::GetControlWord)
    }

    /// True if specifications for messages that are sent may use it, not only those for calls.
    pub fn is_for_sends(self) -> bool {
        !matches!(self, Action::Caller | Action::CallerLine | Action::Stack)
    }

    /// True if specifications for messages that are received may use it.
    pub fn is_for_receives(self) -> bool {
        use Action::{Display, ExceptionTrace, GetControlWord, Message, ReturnTrace, SetControlWord};
        matches!(self, Message | ReturnTrace | ExceptionTrace | Display | GetControlWord | SetControlWord)
    }
}

pub enum FunctionForm {
    Function(Function),
    Action(Action),
    ActionOfOtherArity,
    Unknown,
}

pub fn find(name: Atom, arity: usize) -> FunctionForm {
    if let Some(direct) = direct(name.name(), arity) {
        return FunctionForm::Function(Function::Direct(direct));
    }
    if let Some((_, action, arities)) = ACTIONS.iter().find(|(n, _, _)| *n == name.name()) {
        return if arities.contains(&arity) { FunctionForm::Action(*action) } else { FunctionForm::ActionOfOtherArity };
    }
    if !NATIVES.contains(&(name.name(), arity)) {
        return FunctionForm::Unknown;
    }
    let export = exports::find(Mfa { module: am::ERLANG, function: name, arity: arity as u8 });
    match export.and_then(natives::of) {
        Some(native) => FunctionForm::Function(Function::Native(native)),
        None => FunctionForm::Unknown,
    }
}

const ACTIONS: &[(&str, Action, &[usize])] = &[
    ("message", Action::Message, &[1]),
    ("return_trace", Action::ReturnTrace, &[0]),
    ("exception_trace", Action::ExceptionTrace, &[0]),
    ("display", Action::Display, &[1]),
    ("caller", Action::Caller, &[0]),
    ("caller_line", Action::CallerLine, &[0]),
    ("current_stacktrace", Action::Stack, &[0, 1]),
    ("get_seq_token", Action::GetSeqToken, &[0]),
    ("is_seq_trace", Action::IsSeqTrace, &[0]),
    ("get_tcw", Action::GetControlWord, &[0]),
    ("process_dump", Action::ProcessDump, &[0]),
    ("enable_trace", Action::Enable, &[1, 2]),
    ("disable_trace", Action::Disable, &[1, 2]),
    ("trace", Action::Trace, &[2, 3]),
    ("set_tcw", Action::SetControlWord, &[1]),
    ("silent", Action::Silent, &[1]),
    ("set_seq_token", Action::SetSeqToken, &[2]),
];

/// Guard BIFs that are called as the natives that are registered for them.
const NATIVES: &[(&str, usize)] = &[
    ("abs", 1),
    ("float", 1),
    ("round", 1),
    ("trunc", 1),
    ("ceil", 1),
    ("floor", 1),
    ("node", 1),
    ("bit_size", 1),
    ("byte_size", 1),
    ("size", 1),
    ("binary_part", 2),
    ("binary_part", 3),
    ("+", 1),
    ("+", 2),
    ("-", 1),
    ("-", 2),
    ("*", 2),
    ("/", 2),
    ("div", 2),
    ("rem", 2),
    ("band", 2),
    ("bor", 2),
    ("bxor", 2),
    ("bnot", 1),
    ("bsl", 2),
    ("bsr", 2),
    ("is_function", 2),
];

impl Function {
    pub fn call(self, p: &mut Process, args: &[Term]) -> Option<Term> {
        match self {
            Function::Direct(f) => f(p, args),
            Function::Native(f) => match f(p, args) {
                Ok(term) => Some(term),
                // A native that wants to pause is called again at once.
                Err(Thrown::Again) => loop {
                    let again = std::mem::take(&mut p.trap_args);
                    match f(p, &again) {
                        Ok(term) => return Some(term),
                        Err(Thrown::Again) => {}
                        Err(_) => return None,
                    }
                },
                Err(_) => None,
            },
        }
    }
}

fn test(is: fn(Term) -> bool, a: &[Term]) -> Option<Term> {
    Some(Term::bool(is(a[0])))
}

fn boolean(term: Term) -> Option<bool> {
    crate::args::boolean(term)
}

fn length(term: Term) -> Option<Term> {
    list::length(term).map(|n| Term::small(n as i64))
}

/// The functions that need neither memory nor the registry of natives.
fn direct(name: &str, arity: usize) -> Option<Direct> {
    let f: Direct = match (name, arity) {
        ("=:=", 2) => |_, a| Some(Term::bool(exact_eq(a[0], a[1]))),
        ("=/=", 2) => |_, a| Some(Term::bool(!exact_eq(a[0], a[1]))),
        ("==", 2) => |_, a| Some(Term::bool(eq(a[0], a[1]))),
        ("/=", 2) => |_, a| Some(Term::bool(!eq(a[0], a[1]))),
        ("<", 2) => |_, a| Some(Term::bool(cmp(a[0], a[1]) == Ordering::Less)),
        (">", 2) => |_, a| Some(Term::bool(cmp(a[0], a[1]) == Ordering::Greater)),
        ("=<", 2) => |_, a| Some(Term::bool(cmp(a[0], a[1]) != Ordering::Greater)),
        (">=", 2) => |_, a| Some(Term::bool(cmp(a[0], a[1]) != Ordering::Less)),
        ("min", 2) => |_, a| Some(if cmp(a[0], a[1]) == Ordering::Greater { a[1] } else { a[0] }),
        ("max", 2) => |_, a| Some(if cmp(a[0], a[1]) == Ordering::Less { a[1] } else { a[0] }),
        ("not", 1) => |_, a| boolean(a[0]).map(|b| Term::bool(!b)),
        ("xor", 2) => |_, a| Some(Term::bool(boolean(a[0])? != boolean(a[1])?)),
        ("is_atom", 1) => |_, a| test(Term::is_atom, a),
        ("is_boolean", 1) => |_, a| Some(Term::bool(boolean(a[0]).is_some())),
        ("is_float", 1) => |_, a| test(Term::is_float, a),
        ("is_integer", 1) => |_, a| test(Term::is_integer, a),
        ("is_list", 1) => |_, a| test(Term::is_list, a),
        ("is_number", 1) => |_, a| test(Term::is_number, a),
        ("is_pid", 1) => |_, a| test(Term::is_pid, a),
        ("is_port", 1) => |_, a| test(Term::is_port, a),
        ("is_reference", 1) => |_, a| test(Term::is_reference, a),
        ("is_tuple", 1) => |_, a| test(Term::is_tuple, a),
        ("is_map", 1) => |_, a| test(Term::is_map, a),
        ("is_binary", 1) => |_, a| test(Term::is_binary, a),
        ("is_bitstring", 1) => |_, a| test(Term::is_bitstring, a),
        ("is_function", 1) => |_, a| test(Term::is_fun, a),
        ("is_record", 3) => |_, a| {
            let size = a[2].as_small()?;
            a[1].as_atom()?;
            Some(Term::bool(a[0].as_tuple().is_some_and(|t| t.len() as i64 == size && t.first() == Some(&a[1]))))
        },
        ("is_map_key", 2) => |_, a| a[1].is_map().then(|| Term::bool(map::contains(a[1], a[0]))),
        ("map_get", 2) => |_, a| if a[1].is_map() { map::get(a[1], a[0]) } else { None },
        ("map_size", 1) => |_, a| a[0].is_map().then(|| Term::small(map::size(a[0]) as i64)),
        ("element", 2) => |_, a| {
            let index = usize::try_from(a[0].as_small()? - 1).ok()?;
            a[1].as_tuple()?.get(index).copied()
        },
        ("tuple_size", 1) => |_, a| a[0].as_tuple().map(|t| Term::small(t.len() as i64)),
        ("hd", 1) => |_, a| a[0].is_cons().then(|| a[0].head()),
        ("tl", 1) => |_, a| a[0].is_cons().then(|| a[0].tail()),
        ("length", 1) => |_, a| length(a[0]),
        ("self", 0) => |p, _| Some(p.pid_term()),
        ("node", 0) => |_, _| Some(heddle_term::node::name().into()),
        _ => return None,
    };
    Some(f)
}
