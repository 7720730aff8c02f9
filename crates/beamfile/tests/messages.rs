//! Which constructions are judged messages, on code made by hand. How programs are judged is in the tests of `heddle`.

#[allow(dead_code)]
mod assembler;

use assembler::Arg::{self, *};
use assembler::{code, file};
use heddle_abi::opcodes::Op;
use heddle_beamfile::Verified;
use heddle_beamfile::messages::{analyse, constructions};

/// From 1: the module, names of functions, and what imports are made of.
const NAMES: [&str; 12] = ["m", "f", "g", "h", "erlang", "exit", "lists", "reverse", "map", "spawn", "reply", "handle_call"];
const ATOM_F: u64 = 2;
const ATOM_G: u64 = 3;
const ATOM_H: u64 = 4;
const ATOM_REPLY: u64 = 11;

/// Module, function, arity; the number of an import is its place.
const IMPORTS: [[u32; 3]; 5] = [[5, 6, 1], [7, 8, 1], [7, 9, 2], [5, 10, 1], [1, 3, 1]];
const EXIT: Arg = U(0);
const REVERSE: Arg = U(1);
const MAP: Arg = U(2);
const SPAWN: Arg = U(3);
const M_G: Arg = U(4);

type Body<'a> = &'a [(Op, &'a [Arg])];

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// Functions as name, arity and body. The entry of the first has label 2, of the second 4 and so on; others are free from 20.
fn module(functions: &[(u64, u64, Body)], lambdas: &[[u32; 6]], attributes: &[u8]) -> Verified {
    let heads: Vec<[Vec<Arg>; 3]> = functions
        .iter()
        .enumerate()
        .map(|(at, &(name, arity, _))| {
            let label = 2 * at as u64 + 1;
            [vec![U(label)], vec![A(1), A(name), U(arity)], vec![U(label + 1)]]
        })
        .collect();
    let mut instrs: Vec<(Op, &[Arg])> = Vec::new();
    for (head, (_, _, body)) in heads.iter().zip(functions) {
        instrs.extend([(Op::Label, &head[0][..]), (Op::FuncInfo, &head[1][..]), (Op::Label, &head[2][..])]);
        instrs.extend_from_slice(body);
    }
    instrs.push((Op::IntCodeEnd, &[]));
    let mut atoms = words(&[NAMES.len() as u32]);
    for name in NAMES {
        atoms.push(name.len() as u8);
        atoms.extend(name.bytes());
    }
    let imports = words(&[&[IMPORTS.len() as u32][..], &IMPORTS.concat()].concat());
    let lambdas = words(&[&[lambdas.len() as u32][..], &lambdas.concat()].concat());
    let code = code(40, functions.len() as u32, &instrs);
    let bytes = file(&[
        (b"AtU8", &atoms),
        (b"Code", &code),
        (b"ImpT", &imports),
        (b"ExpT", &words(&[0])),
        (b"FunT", &lambdas),
        (b"Attr", attributes),
    ]);
    Verified::load(&bytes).unwrap_or_else(|error| panic!("{error}"))
}

/// For each construction in the order of the code: judged a message.
#[track_caller]
fn judged(beam: &Verified) -> Vec<bool> {
    let messages = analyse(beam);
    let constructions = constructions(beam);
    for construction in &constructions {
        let explained = construction.reason.as_ref().is_some_and(|reason| reason.sends != "several together");
        assert_eq!(messages.contains(construction.instr), explained, "{construction:?}");
    }
    assert_eq!(messages.count(), constructions.iter().filter(|construction| construction.reason.is_some()).count());
    constructions.iter().map(|construction| construction.reason.is_some()).collect()
}

#[track_caller]
fn check(functions: &[(u64, u64, Body)], expected: &[bool]) {
    assert_eq!(judged(&module(functions, &[], &[])), expected);
}

fn tuple(dst: Arg, elements: Vec<Arg>) -> [Arg; 2] {
    [dst, List(elements)]
}

#[test]
fn what_is_sent_is_a_message_with_its_parts() {
    let body: Body = &[
        (Op::TestHeap, &[U(9), U(2)]),
        (Op::PutList, &[X(1), A(ATOM_F), X(2)]),
        (Op::PutTuple2, &tuple(X(3), vec![A(ATOM_F), X(2)])),
        (Op::PutTuple2, &tuple(X(4), vec![A(ATOM_F), X(2)])),
        (Op::Move, &[X(3), X(1)]),
        (Op::Send, &[]),
        (Op::Return, &[]),
    ];
    check(&[(ATOM_F, 2, body)], &[true, true, false]);
}

#[test]
fn a_module_that_sends_nothing_is_not_looked_at() {
    let beam = module(&[(ATOM_F, 1, &[(Op::TestHeap, &[U(2), U(1)]), (Op::PutList, &[X(0), X(0), X(0)]), (Op::Return, &[])])], &[], &[]);
    assert!(analyse(&beam).is_empty());
    assert_eq!(judged(&beam), [false]);
}

#[test]
fn frames_are_followed() {
    let body: Body = &[
        (Op::AllocateHeap, &[U(3), U(4), U(2)]),
        (Op::PutList, &[X(1), A(ATOM_F), Y(2)]),
        (Op::PutList, &[X(1), A(ATOM_F), Y(1)]),
        (Op::Move, &[X(0), Y(0)]),
        (Op::Call, &[U(1), F(2 + 2)]),
        (Op::Trim, &[U(1), U(2)]),
        (Op::Move, &[Y(1), X(1)]),
        (Op::Send, &[]),
        (Op::Deallocate, &[U(2)]),
        (Op::Return, &[]),
    ];
    check(&[(ATOM_F, 2, body), (ATOM_G, 1, &[(Op::Return, &[])])], &[true, false]);
}

/// `f(P, X) -> P ! g(X, [])`, where g pushes and then returns its second argument: only the want of the result makes its cells
/// messages, and it takes a second visit to see that they are parts of the argument.
#[test]
fn results_of_loops_with_an_accumulator() {
    let f: Body = &[
        (Op::Allocate, &[U(1), U(2)]),
        (Op::Move, &[X(0), Y(0)]),
        (Op::Move, &[X(1), X(0)]),
        (Op::Move, &[A(ATOM_F), X(1)]),
        (Op::Call, &[U(2), F(4)]),
        (Op::Move, &[X(0), X(1)]),
        (Op::Move, &[Y(0), X(0)]),
        (Op::Send, &[]),
        (Op::Deallocate, &[U(1)]),
        (Op::Return, &[]),
    ];
    let g: Body = &[
        (Op::IsNonemptyList, &[F(20), X(0)]),
        (Op::GetList, &[X(0), X(2), X(0)]),
        (Op::TestHeap, &[U(4), U(3)]),
        (Op::PutTuple2, &tuple(X(2), vec![X(2)])),
        (Op::PutList, &[X(2), X(1), X(1)]),
        (Op::CallOnly, &[U(2), F(4)]),
        (Op::Label, &[U(20)]),
        (Op::Move, &[X(1), X(0)]),
        (Op::Return, &[]),
    ];
    check(&[(ATOM_F, 2, f), (ATOM_G, 2, g)], &[true, true]);
    // The same function, whose callers send nothing.
    let other: Body = &[(Op::Move, &[X(0), X(1)]), (Op::Send, &[]), (Op::Return, &[])];
    check(&[(ATOM_F, 1, other), (ATOM_G, 2, g)], &[false, false]);
    // Reversed, so the cells are copied; their elements are not.
    let reversed: Body = &[
        (Op::Allocate, &[U(1), U(2)]),
        (Op::Move, &[X(0), Y(0)]),
        (Op::Move, &[X(1), X(0)]),
        (Op::Move, &[A(ATOM_F), X(1)]),
        (Op::Call, &[U(2), F(4)]),
        (Op::CallExt, &[U(1), REVERSE]),
        (Op::Move, &[X(0), X(1)]),
        (Op::Move, &[Y(0), X(0)]),
        (Op::Send, &[]),
        (Op::Deallocate, &[U(1)]),
        (Op::Return, &[]),
    ];
    check(&[(ATOM_F, 2, reversed), (ATOM_G, 2, g)], &[true, false]);
}

#[test]
fn parameters_that_are_sent() {
    // f(P, X) -> m:g([X | f]); g(M) -> h(f, M) -> sends its second argument.
    let f: Body = &[(Op::TestHeap, &[U(2), U(2)]), (Op::PutList, &[X(1), A(ATOM_F), X(0)]), (Op::CallExtOnly, &[U(1), M_G])];
    let g: Body = &[(Op::Move, &[X(0), X(1)]), (Op::Move, &[A(ATOM_F), X(0)]), (Op::CallOnly, &[U(2), F(6)])];
    let h: Body = &[(Op::Send, &[]), (Op::Return, &[])];
    let beam = module(&[(ATOM_F, 2, f), (ATOM_G, 1, g), (ATOM_H, 2, h)], &[], &[]);
    assert_eq!(judged(&beam), [true]);
    let reason = constructions(&beam)[0].reason.clone().expect("a message");
    assert_eq!((reason.sends.as_str(), reason.through), ("!", vec![0, 1, 2]));
}

/// What a process has while it waits is its state, though it may be sent later.
#[test]
fn waiting_ends_wants() {
    let body = |wait: bool| -> Vec<(Op, &[Arg])> {
        const LOOP: [Arg; 1] = [U(20)];
        let mut body: Vec<(Op, &[Arg])> =
            vec![(Op::AllocateHeap, &[U(2), U(2), U(2)]), (Op::PutList, &[X(1), A(ATOM_F), Y(1)]), (Op::Move, &[X(0), Y(0)])];
        if wait {
            body.extend([
                (Op::Label, &LOOP[..]),
                (Op::LoopRec, &[F(21), X(0)]),
                (Op::RemoveMessage, &[]),
                (Op::Jump, &[F(22)]),
                (Op::Label, &[U(21)]),
                (Op::Wait, &[F(20)]),
                (Op::Label, &[U(22)]),
            ]);
        }
        body.extend([
            (Op::Move, &[Y(1), X(1)][..]),
            (Op::Move, &[Y(0), X(0)]),
            (Op::Send, &[]),
            (Op::Deallocate, &[U(2)]),
            (Op::Return, &[]),
        ]);
        body
    };
    check(&[(ATOM_F, 2, &body(false))], &[true]);
    check(&[(ATOM_F, 2, &body(true))], &[false]);
}

/// One way that sends is enough.
#[test]
fn branches() {
    let body: Body = &[
        (Op::TestHeap, &[U(4), U(2)]),
        (Op::PutList, &[X(1), A(ATOM_F), X(1)]),
        (Op::PutList, &[X(1), A(ATOM_F), X(2)]),
        (Op::SelectVal, &[X(0), F(21), List(vec![A(ATOM_F), F(20), A(ATOM_G), F(21)])]),
        (Op::Label, &[U(20)]),
        (Op::Send, &[]),
        (Op::Return, &[]),
        (Op::Label, &[U(21)]),
        (Op::Move, &[X(2), X(0)]),
        (Op::Return, &[]),
    ];
    check(&[(ATOM_F, 2, body)], &[true, false]);
    // From the tail of the function, which sends, control went back to the construction; one walk does not see that.
    let back: Body = &[
        (Op::Jump, &[F(21)]),
        (Op::Label, &[U(20)]),
        (Op::Send, &[]),
        (Op::Return, &[]),
        (Op::Label, &[U(21)]),
        (Op::TestHeap, &[U(2), U(2)]),
        (Op::PutList, &[X(1), A(ATOM_F), X(1)]),
        (Op::Jump, &[F(20)]),
    ];
    check(&[(ATOM_F, 2, back)], &[true]);
}

/// `[] -> []` at the end of a loop over a list returns the register of the list.
#[test]
fn the_end_of_a_list_is_not_the_list() {
    // f(P, X) -> P ! g([{X}]); g([_ | T]) -> [f | g(T)]; g([]) -> [].
    let f: Body = &[
        (Op::AllocateHeap, &[U(1), U(4), U(2)]),
        (Op::PutTuple2, &tuple(X(1), vec![X(1)])),
        (Op::Move, &[X(0), Y(0)]),
        (Op::PutList, &[X(1), A(ATOM_F), X(0)]),
        (Op::Call, &[U(1), F(4)]),
        (Op::Move, &[X(0), X(1)]),
        (Op::Move, &[Y(0), X(0)]),
        (Op::Send, &[]),
        (Op::Deallocate, &[U(1)]),
        (Op::Return, &[]),
    ];
    let g: Body = &[
        (Op::IsNonemptyList, &[F(20), X(0)]),
        (Op::Allocate, &[U(0), U(1)]),
        (Op::GetTl, &[X(0), X(0)]),
        (Op::Call, &[U(1), F(4)]),
        (Op::TestHeap, &[U(2), U(1)]),
        (Op::PutList, &[A(ATOM_F), X(0), X(0)]),
        (Op::Deallocate, &[U(0)]),
        (Op::Return, &[]),
        (Op::Label, &[U(20)]),
        (Op::Return, &[]),
    ];
    check(&[(ATOM_F, 2, f), (ATOM_G, 1, g)], &[false, false, true]);
}

#[test]
fn exit_reasons_count_where_they_are_built() {
    let body: Body = &[
        (Op::TestHeap, &[U(5), U(2)]),
        (Op::PutList, &[X(1), A(ATOM_F), X(1)]),
        (Op::IsNil, &[F(20), X(0)]),
        (Op::Return, &[]),
        (Op::Label, &[U(20)]),
        (Op::PutTuple2, &tuple(X(0), vec![A(ATOM_F), X(1)])),
        (Op::CallExtOnly, &[U(1), EXIT]),
    ];
    check(&[(ATOM_F, 2, body)], &[false, true]);
}

#[test]
fn funs() {
    // f(P, X) -> spawn(fun() -> g(P, X) end), g sends {X}.
    let lambda = [ATOM_G as u32, 2, 4, 0, 2, 0];
    let f: Body = &[
        (Op::TestHeap, &[U(9), U(2)]),
        (Op::PutTuple2, &tuple(X(1), vec![X(1)])),
        (Op::MakeFun3, &[U(0), X(0), List(vec![X(0), X(1)])]),
        (Op::CallExtOnly, &[U(1), SPAWN]),
    ];
    let g: Body = &[(Op::TestHeap, &[U(2), U(2)]), (Op::PutTuple2, &tuple(X(1), vec![X(1)])), (Op::Send, &[]), (Op::Return, &[])];
    assert_eq!(judged(&module(&[(ATOM_F, 2, f), (ATOM_G, 2, g)], &[lambda], &[])), [true, true, true]);
    // f(P, L, X) -> P ! lists:map(fun(Y) -> g(Y, X) end, L): what g returns is sent, not the fun.
    let f: Body = &[
        (Op::Allocate, &[U(1), U(3)]),
        (Op::Move, &[X(0), Y(0)]),
        (Op::MakeFun3, &[U(0), X(0), List(vec![X(2)])]),
        (Op::CallExt, &[U(2), MAP]),
        (Op::Move, &[X(0), X(1)]),
        (Op::Move, &[Y(0), X(0)]),
        (Op::Send, &[]),
        (Op::Deallocate, &[U(1)]),
        (Op::Return, &[]),
    ];
    let g: Body = &[(Op::TestHeap, &[U(3), U(2)]), (Op::PutTuple2, &tuple(X(0), vec![X(0), X(1)])), (Op::Return, &[])];
    let lambda = [ATOM_G as u32, 2, 4, 0, 1, 0];
    assert_eq!(judged(&module(&[(ATOM_F, 3, f), (ATOM_G, 2, g)], &[lambda], &[])), [false, true]);
}

#[test]
fn replies_of_behaviours() {
    let body: Body = &[
        (Op::TestHeap, &[U(8), U(2)]),
        (Op::PutList, &[X(0), A(ATOM_F), X(0)]),
        (Op::PutTuple2, &tuple(X(0), vec![A(ATOM_REPLY), X(0), X(1)])),
        (Op::Return, &[]),
    ];
    let attributes = |behaviour: &[u8]| {
        let mut bytes = b"\x83l\0\0\0\x01h\x02w\x09behaviourl\0\0\0\x01w".to_vec();
        bytes.push(behaviour.len() as u8);
        bytes.extend(behaviour);
        bytes.extend(b"jj");
        bytes
    };
    assert_eq!(judged(&module(&[(ATOM_F, 2, body)], &[], &attributes(b"gen_server"))), [true, false]);
    assert_eq!(judged(&module(&[(ATOM_F, 2, body)], &[], &attributes(b"supervisor"))), [false, false]);
    // In gen_statem the third element is the reply: here a parameter.
    assert_eq!(judged(&module(&[(ATOM_F, 2, body)], &[], &attributes(b"gen_statem"))), [false, false]);
}
