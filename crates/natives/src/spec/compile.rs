//! Makes programs of terms. All mistakes are collected, since `erlang:match_spec_test/3` reports them all.

use super::functions::{self, FunctionForm};
use super::pattern::Pattern;
use super::{Clause, Dialect, Expr, Form};
use heddle_term::list::to_vec;
use heddle_term::map::MapIter;
use heddle_term::text::display;
use heddle_term::{Atom, Term};
use std::collections::BTreeMap;

/// Deepest nesting of a specification. Guards and bodies are evaluated by recursion; no program writes them as deep as this.
const MAX_DEPTH: usize = 1000;
pub const TOO_DEEP: &str = "Match specification is nested too deep.";
/// The largest number of a variable.
const MAX_VARIABLE: u32 = 100_000_000;

pub struct Compiler {
    dialect: Dialect,
    pub errors: Vec<String>,
    /// The slot of each variable, by number.
    variables: BTreeMap<u32, u32>,
    depth: usize,
    in_guards: bool,
}

/// The number of `'$N'`.
fn variable(term: Term) -> Option<u32> {
    let digits = term.as_atom()?.name().strip_prefix('$')?;
    if digits.is_empty() || digits.len() > 9 || !digits.bytes().all(|b| b.is_ascii_digit()) || (digits.len() > 1 && digits.starts_with('0'))
    {
        return None;
    }
    digits.parse().ok().filter(|&n| n <= MAX_VARIABLE)
}

fn is_atom(term: Term, name: &str) -> bool {
    term.as_atom().is_some_and(|a| a.name() == name)
}

/// Compiles a specification or, by `form`, a head alone, whose body is one special variable (`ets:match`, `ets:match_object`).
pub fn compile(term: Term, form: Form, dialect: Dialect) -> Result<Vec<Clause>, Vec<String>> {
    let mut compiler = Compiler { dialect, errors: Vec::new(), variables: BTreeMap::new(), depth: 0, in_guards: false };
    if form != Form::Spec {
        let head = compiler.pattern(term);
        let body = if form == Form::Match { compiler.all_vars() } else { Expr::Object };
        let clause = compiler.finish(head, Vec::new(), vec![body]);
        return if compiler.errors.is_empty() { Ok(vec![clause]) } else { Err(compiler.errors) };
    }
    let parts = match to_vec(term) {
        Some(parts) if !parts.is_empty() => parts,
        None if term.is_cons() => return Err(vec!["Match programs are not in a proper list.".into()]),
        _ => return Err(vec!["Match programs are not in a list.".into()]),
    };
    // Stock looks at the shape of all clauses first, and at no clause after one with errors.
    let mut shapes = Vec::with_capacity(parts.len());
    for part in parts {
        let Some(&[head, guards, body]) = part.as_tuple() else {
            return Err(vec!["Match program part is not a tuple of arity 3.".into()]);
        };
        if dialect == Dialect::Trace && !compiler.check_trace_head(head) {
            return Err(compiler.errors);
        }
        shapes.push((head, guards, body));
    }
    let mut clauses = Vec::with_capacity(shapes.len());
    for (head, guards, body) in shapes {
        compiler.start();
        let head = compiler.pattern(head);
        compiler.in_guards = true;
        let guards = compiler.expressions(guards);
        compiler.in_guards = false;
        let body = compiler.body(body);
        clauses.push(compiler.finish(head, guards, body));
        if !compiler.errors.is_empty() {
            return Err(compiler.errors);
        }
    }
    Ok(clauses)
}

impl Compiler {
    fn error(&mut self, text: String) -> Expr {
        self.errors.push(text);
        Expr::Const(Term::NIL)
    }

    fn start(&mut self) {
        self.variables.clear();
    }

    fn finish(&mut self, head: Pattern, guards: Vec<Expr>, body: Vec<Expr>) -> Clause {
        Clause { head, guards, body, slots: self.variables.len() }
    }

    fn all_vars(&self) -> Expr {
        Expr::AllVars(self.variables.values().copied().collect())
    }

    fn check_trace_head(&mut self, head: Term) -> bool {
        if head.is_cons() && to_vec(head).is_none() {
            self.errors.push(format!("Match expression part {} is not a proper list.", display::to_string(head)));
            return false;
        }
        true
    }

    fn too_deep(&mut self) -> bool {
        if self.depth <= MAX_DEPTH {
            return false;
        }
        self.errors.push(TOO_DEEP.into());
        true
    }

    // ---- heads ----

    fn pattern(&mut self, term: Term) -> Pattern {
        self.depth += 1;
        let pattern = if self.depth == MAX_DEPTH && is_ground(term) {
            Pattern::Const(term)
        } else if self.too_deep() {
            Pattern::Any
        } else {
            self.pattern_here(term)
        };
        self.depth -= 1;
        pattern
    }

    fn pattern_here(&mut self, term: Term) -> Pattern {
        if term.is_atom() {
            if is_atom(term, "_") {
                return Pattern::Any;
            }
            let Some(number) = variable(term) else { return Pattern::Const(term) };
            if let Some(&slot) = self.variables.get(&number) {
                return Pattern::Same(slot);
            }
            let slot = self.variables.len() as u32;
            self.variables.insert(number, slot);
            return Pattern::Bind(slot);
        }
        if let Some(elements) = term.as_tuple() {
            let parts: Vec<Pattern> = elements.iter().map(|&e| self.pattern(e)).collect();
            return if parts.iter().all(is_const) { Pattern::Const(term) } else { Pattern::Tuple(parts) };
        }
        if term.is_cons() {
            let mut parts = Vec::new();
            let mut rest = term;
            while rest.is_cons() {
                parts.push(self.pattern(rest.head()));
                rest = rest.tail();
            }
            let tail = self.pattern(rest);
            return if is_const(&tail) && parts.iter().all(is_const) { Pattern::Const(term) } else { Pattern::List(parts, Box::new(tail)) };
        }
        if term.is_map() {
            let mut pairs = Vec::new();
            for (key, value) in MapIter::new(term) {
                if is_atom(key, "_") {
                    self.errors.push("Underscore found in map key.".into());
                } else if variable(key).is_some() {
                    self.errors.push("Variable found in map key.".into());
                }
                pairs.push((key, self.pattern(value)));
            }
            return Pattern::Map(pairs);
        }
        Pattern::Const(term)
    }

    // ---- guards and bodies ----

    fn expressions(&mut self, list: Term) -> Vec<Expr> {
        if !list.is_list() {
            self.errors.push("Match expression is not a list.".into());
            return Vec::new();
        }
        let mut out = Vec::new();
        let mut rest = list;
        while rest.is_cons() {
            out.push(self.expr(rest.head()));
            rest = rest.tail();
        }
        if !rest.is_nil() {
            self.errors.push("Match expression is not a proper list.".into());
        }
        out
    }

    fn body(&mut self, list: Term) -> Vec<Expr> {
        if list.is_cons() {
            return self.expressions(list);
        }
        if self.dialect == Dialect::Trace && list.is_nil() {
            return vec![Expr::Const(Term::bool(true))];
        }
        self.errors.push("Body clause does not return anything.".into());
        Vec::new()
    }

    fn expr(&mut self, term: Term) -> Expr {
        self.depth += 1;
        let expr = if self.too_deep() { Expr::Const(term) } else { self.expr_here(term) };
        self.depth -= 1;
        expr
    }

    fn expr_here(&mut self, term: Term) -> Expr {
        if term.is_atom() {
            if is_atom(term, "$_") {
                return Expr::Object;
            }
            if is_atom(term, "$$") {
                return self.all_vars();
            }
            let Some(number) = variable(term) else { return Expr::Const(term) };
            return match self.variables.get(&number) {
                Some(&slot) => Expr::Var(slot),
                None => self.error(format!("Variable ${number} is unbound.")),
            };
        }
        if term.is_cons() {
            let mut parts = Vec::new();
            let mut rest = term;
            while rest.is_cons() {
                parts.push(self.expr(rest.head()));
                rest = rest.tail();
            }
            let tail = self.expr(rest);
            return if list_is_literal(&parts, &tail, term) { Expr::Const(term) } else { Expr::List(parts, Box::new(tail)) };
        }
        if term.is_map() {
            let pairs: Vec<(Expr, Expr)> = MapIter::new(term).map(|(k, v)| (self.expr(k), self.expr(v))).collect();
            let constant = pairs.iter().zip(MapIter::new(term)).all(|((k, v), (key, value))| is_literal(k, key) && is_literal(v, value));
            return if constant { Expr::Const(term) } else { Expr::Map(pairs) };
        }
        match term.as_tuple() {
            Some(elements) => self.call(term, elements),
            None => Expr::Const(term),
        }
    }

    fn call(&mut self, term: Term, elements: &[Term]) -> Expr {
        if let [inner] = elements
            && let Some(parts) = inner.as_tuple()
        {
            let parts: Vec<Expr> = parts.iter().map(|&e| self.expr(e)).collect();
            return if parts_are_literal(&parts, *inner) { Expr::Const(*inner) } else { Expr::Tuple(parts) };
        }
        let Some(name) = elements.first().and_then(|e| e.as_atom()) else {
            let text = display::to_string(term);
            return self.error(format!("{text} is neither a function call, nor a tuple (tuples are written {{{{ ... }}}})."));
        };
        let arguments = &elements[1..];
        if name.name() == "const" {
            return match arguments {
                [value] => Expr::Const(*value),
                _ => {
                    let text = display::to_string(term);
                    self.error(format!("Special form 'const' called with more than one argument in {text}."))
                }
            };
        }
        if let Some(make) = logical(name.name()) {
            if arguments.is_empty() {
                let text = display::to_string(term);
                return self.error(format!("Special form '{}' called without arguments in {text}.", name.name()));
            }
            return make(arguments.iter().map(|&a| self.expr(a)).collect());
        }
        self.named_call(term, name, arguments)
    }

    fn named_call(&mut self, term: Term, name: Atom, arguments: &[Term]) -> Expr {
        match functions::find(name, arguments.len()) {
            FunctionForm::Function(_) if name.name() == "element" && is_atom(arguments[1], "$_") && arguments[0].is_small() => {
                Expr::ObjectElement(arguments[0].small_value())
            }
            FunctionForm::Function(function) => {
                let arguments = arguments.iter().map(|&a| self.expr(a)).collect();
                Expr::Call(function, arguments)
            }
            FunctionForm::Action(action) => {
                if self.dialect == Dialect::Table {
                    return self.error(format!("Special form '{}' used in wrong dialect.", name.name()));
                }
                if self.in_guards && !action.is_for_guards() {
                    return self.error(match action {
                        functions::Action::SetControlWord => "Function set_tcw/1 cannot be called in this context.".into(),
                        // Stock calls it by another name here.
                        functions::Action::SetSeqToken => "Special form 'set_seq_trace' called in guard context.".into(),
                        _ => format!("Special form '{}' called in guard context.", name.name()),
                    });
                }
                if let (functions::Action::Stack, [depth]) = (action, arguments)
                    && depth.as_small().is_none_or(|n| n < 0)
                {
                    let text = display::to_string(term);
                    return self.error(format!("Special form '{}' called with non-small or negative argument in {text}.", name.name()));
                }
                let arguments = arguments.iter().map(|&a| self.expr(a)).collect();
                Expr::Action(action, arguments)
            }
            FunctionForm::ActionOfOtherArity => {
                let text = display::to_string(term);
                self.error(format!("Special form '{}' called with wrong number of arguments in {text}.", name.name()))
            }
            FunctionForm::Unknown => {
                let name = display::to_string(name.into());
                self.error(format!("Function {name}/{} does_not_exist.", arguments.len()))
            }
        }
    }
}

fn logical(name: &str) -> Option<fn(Vec<Expr>) -> Expr> {
    Some(match name {
        "and" => Expr::And,
        "or" => Expr::Or,
        "andalso" => Expr::AndAlso,
        "orelse" => Expr::OrElse,
        _ => return None,
    })
}

/// True if there are no variables and no maps anywhere in the term. Works without recursion, since parts may be nested deep.
fn is_ground(term: Term) -> bool {
    let mut stack = vec![term];
    while let Some(term) = stack.pop() {
        if term.is_map() || is_atom(term, "_") || variable(term).is_some() {
            return false;
        }
        if term.is_cons() {
            stack.extend([term.tail(), term.head()]);
        } else if let Some(elements) = term.as_tuple() {
            stack.extend_from_slice(elements);
        }
    }
    true
}

fn is_const(pattern: &Pattern) -> bool {
    matches!(pattern, Pattern::Const(_))
}

/// True if the expression's value is the very term that it was written as (not for `{const, _}` or `{{...}}`).
fn is_literal(expr: &Expr, term: Term) -> bool {
    matches!(expr, Expr::Const(c) if *c == term)
}

fn parts_are_literal(parts: &[Expr], tuple: Term) -> bool {
    let Some(elements) = tuple.as_tuple() else { return false };
    parts.iter().zip(elements).all(|(p, &e)| is_literal(p, e))
}

fn list_is_literal(parts: &[Expr], tail: &Expr, list: Term) -> bool {
    let mut rest = list;
    for part in parts {
        if !is_literal(part, rest.head()) {
            return false;
        }
        rest = rest.tail();
    }
    is_literal(tail, rest)
}
