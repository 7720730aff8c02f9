//! Results of bodies, built in the caller's heap. Nothing in them points into a table.

use super::Expr;
use super::eval::{self, Env, Mode, eval};
use heddle_runtime::process::Process;
use heddle_term::{Term, am, map};

pub fn build(expr: &Expr, p: &mut Process, env: &mut Env) -> Term {
    match expr {
        Expr::Const(c) => p.heap.copy(*c),
        Expr::Var(slot) => p.heap.copy(env.slots[*slot as usize]),
        Expr::Object => p.heap.copy(env.object),
        Expr::AllVars(order) => {
            let values: Vec<Term> = order.iter().map(|&slot| p.heap.copy(env.slots[slot as usize])).collect();
            p.heap.list(&values)
        }
        Expr::Tuple(parts) => {
            let values: Vec<Term> = parts.iter().map(|e| build(e, p, env)).collect();
            p.heap.tuple(&values)
        }
        Expr::List(parts, tail) => {
            let values: Vec<Term> = parts.iter().map(|e| build(e, p, env)).collect();
            let tail = build(tail, p, env);
            p.heap.list_with_tail(&values, tail)
        }
        Expr::Map(pairs) => {
            let values: Vec<(Term, Term)> = pairs.iter().map(|(k, v)| (build(k, p, env), build(v, p, env))).collect();
            map::from_pairs(&mut p.heap, &values)
        }
        Expr::Call(function, arguments) => {
            let value = eval::call(*function, arguments, p, env, Mode::Body);
            p.heap.copy(value.unwrap_or(am::EXIT_UPPER.into()))
        }
        _ => {
            let value = eval(expr, p, env, Mode::Body);
            p.heap.copy(value.unwrap_or(am::EXIT_UPPER.into()))
        }
    }
}
