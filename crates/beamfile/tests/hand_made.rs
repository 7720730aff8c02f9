//! Small files made by hand: what must be accepted, what must be refused, and what the refusal says.

mod assembler;

use assembler::Arg::{self, *};
use assembler::{code, file};
use heddle_abi::opcodes::Op;
use heddle_beamfile::{BeamFile, Operand, Reg, ValueType, Verified};

/// Atoms 1 `m`, 2 `f`, 3 `erlang`, 4 `error`; import 0 `erlang:f/1`, import 1 `erlang:error/1`.
const ATOMS: &[u8] = b"\0\0\0\x04\x01m\x01f\x06erlang\x05error";
const IMPORTS: &[u8] = &[0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 1];
const EXPORTS: &[u8] = &[0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2];

/// A module with the function `f/1`, labels 1 and 2, and this body.
fn module(body: &[(Op, &[Arg])]) -> Vec<u8> {
    let mut instrs: Vec<(Op, &[Arg])> = vec![(Op::Label, &[U(1)]), (Op::FuncInfo, &[A(1), A(2), U(1)]), (Op::Label, &[U(2)])];
    instrs.extend_from_slice(body);
    instrs.push((Op::IntCodeEnd, &[]));
    file(&[(b"AtU8", ATOMS), (b"Code", &code(10, 1, &instrs)), (b"ImpT", IMPORTS), (b"ExpT", EXPORTS)])
}

#[track_caller]
fn accepted(body: &[(Op, &[Arg])]) -> Verified {
    Verified::load(&module(body)).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn refused(body: &[(Op, &[Arg])], because: &str) {
    let error = Verified::load(&module(body)).expect_err("must be refused").to_string();
    assert!(error.contains(because), "{error}");
    assert!(error.contains("m:f/1") && error.contains("instruction "), "{error}");
}

#[test]
fn operands_are_decoded() {
    let big = i64::MIN + 5;
    let beam = accepted(&[
        (Op::Move, &[I(big), X(3)]),
        (Op::SelectVal, &[Tx(0, 9), F(3), List(vec![A(2), F(3), I(7), F(3)])]),
        (Op::Label, &[U(3)]),
        (Op::Return, &[]),
    ]);
    let body = beam.code.body(&beam.code.functions[0]);
    assert_eq!(beam.code.operands(&body[3]), [Operand::I(big), Operand::X(3)]);
    let [scrutinee, Operand::Label(3), Operand::List(list)] = *beam.code.operands(&body[4]) else {
        panic!("{:?}", beam.code.operands(&body[4]));
    };
    assert_eq!(scrutinee, Operand::Typed { reg: Reg::X(0), type_index: 9 });
    assert_eq!(beam.code.list(list), [Operand::Atom(2), Operand::Label(3), Operand::I(7), Operand::Label(3)]);
    assert_eq!(beam.value_type(9), ValueType::ANY);
    assert_eq!(beam.code.labels.instr(3), Some(5));
    assert_eq!((beam.module(), beam.code.functions[0].entry), ("m", 2));
}

#[test]
fn forms_of_later_releases_are_read() {
    let instrs: &[(Op, &[Arg])] = &[
        (Op::Label, &[U(1)]),
        (Op::FuncInfo, &[A(1), A(2), U(1)]),
        (Op::Label, &[U(2)]),
        (Op::Move, &[Lit(0), X(0)]),
        (Op::Return, &[]),
        (Op::IntCodeEnd, &[]),
    ];
    let atoms = b"\xff\xff\xff\xfc\x10m\x10f\x60erlang\x50error";
    let literals = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 131, 106];
    let types = [0, 0, 0, 4, 0, 0, 0, 2, 0x1f, 0xff, 0x20, 0x20, 0, 0, 0, 0, 0, 0, 0, 9];
    let code = code(3, 1, instrs);
    let bytes =
        file(&[(b"Type", &types), (b"LitT", &literals), (b"Code", &code), (b"ExpT", EXPORTS), (b"ImpT", IMPORTS), (b"AtU8", atoms)]);
    let beam = Verified::load(&bytes).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(beam.atoms.iter().collect::<Vec<_>>(), ["m", "f", "erlang", "error"]);
    assert_eq!(beam.literals.get(0), Some(&[131, 106][..]));
    assert_eq!(beam.value_type(1), ValueType { kinds: ValueType::INTEGER, min: Some(9), max: None, unit: 1 });
}

#[test]
fn damage_is_named() {
    let error = |bytes: &[u8]| BeamFile::parse(bytes).expect_err("damaged").to_string();
    assert!(error(b"").contains("FOR1"));
    let whole = module(&[(Op::Return, &[])]);
    assert!(error(&whole[..whole.len() - 9]).contains("it is cut"));
    assert!(error(&file(&[(b"AtU8", ATOMS)])).contains("ImpT is missing"));
    let atoms = [0x7f, 0xff, 0xff, 0xff, 1, b'm'];
    let announced = error(&file(&[(b"AtU8", &atoms), (b"ImpT", IMPORTS), (b"ExpT", EXPORTS)]));
    assert!(announced.contains("chunk AtU8, byte 4: 2147483647 entries announced"), "{announced}");
    for cut in 0..whole.len() {
        assert!(BeamFile::parse(&whole[..cut]).is_err());
    }
}

#[test]
fn other_releases_are_named() {
    refused(&[(Op::IsNativeRecord, &[F(1), X(0), A(1), A(2)])], "is_native_record/4: came with OTP 29; recompile the module");
    refused(&[(Op::Put, &[X(0)])], "no compiler since OTP 24");
}

#[test]
fn operands_fit_their_instruction() {
    refused(&[(Op::Move, &[X(0), A(1)]), (Op::Return, &[])], "operand 2");
    refused(&[(Op::Jump, &[F(0)])], "operand 1");
    refused(&[(Op::Jump, &[F(7)])], "label 7 is not defined");
    refused(&[(Op::Jump, &[F(99)])], "label 99");
    refused(&[(Op::Move, &[X(1024), X(0)]), (Op::Return, &[])], "X register 1024");
    refused(&[(Op::Move, &[Lit(0), X(0)]), (Op::Return, &[])], "literal 0 does not exist");
    refused(&[(Op::CallOnly, &[U(2), F(2)])], "called with 2 arguments");
    refused(&[(Op::CallExtOnly, &[U(1), U(2)])], "import 2 does not exist");
    refused(&[(Op::CallOnly, &[U(1), F(1)])], "not the entry of a function");
    refused(&[(Op::Label, &[U(2)]), (Op::Return, &[])], "defined twice");
}

#[test]
fn registers_hold_terms_when_read() {
    refused(&[(Op::Move, &[X(1), X(0)]), (Op::Return, &[])], "X(1) has no value");
    let join: &[(Op, &[Arg])] =
        &[(Op::IsNil, &[F(3), X(0)]), (Op::Move, &[A(1), X(1)]), (Op::Label, &[U(3)]), (Op::Move, &[X(1), X(0)]), (Op::Return, &[])];
    refused(join, "X(1) has no value on some way here");
    refused(&[(Op::TestHeap, &[U(2), U(2)]), (Op::Return, &[])], "x1 has no value");
    let killed: &[(Op, &[Arg])] =
        &[(Op::Move, &[X(0), X(1)]), (Op::TestHeap, &[U(2), U(1)]), (Op::PutList, &[X(1), X(0), X(0)]), (Op::Return, &[])];
    refused(killed, "X(1) has no value");
    let beyond: &[(Op, &[Arg])] = &[(Op::Move, &[X(0), X(1)]), (Op::GcBif1, &[F(0), U(1), U(0), X(1), X(0)]), (Op::Return, &[])];
    refused(beyond, "X(1) has no value");
    refused(&[(Op::Move, &[X(0), X(0)])], "past the end");
}

#[test]
fn frames_are_kept_in_order() {
    accepted(&[(Op::Allocate, &[U(0), U(1)]), (Op::CallExt, &[U(1), U(0)]), (Op::Deallocate, &[U(0)]), (Op::Return, &[])]);
    refused(&[(Op::CallExt, &[U(1), U(0)]), (Op::Return, &[])], "a call needs a frame");
    refused(&[(Op::Allocate, &[U(0), U(1)]), (Op::Return, &[])], "the frame is still there");
    refused(&[(Op::Allocate, &[U(1), U(1)]), (Op::Deallocate, &[U(2)]), (Op::Return, &[])], "a frame of 2 is given up");
    refused(&[(Op::Allocate, &[U(1), U(1)]), (Op::CallExt, &[U(1), U(0)]), (Op::Deallocate, &[U(1)])], "y0 has no value");
    refused(&[(Op::Allocate, &[U(1), U(1)]), (Op::Move, &[X(0), Y(1)]), (Op::Deallocate, &[U(1)])], "y1 is outside");
    refused(&[(Op::Move, &[Y(0), X(0)]), (Op::Return, &[])], "y0 is outside");
    let trimmed: &[(Op, &[Arg])] = &[
        (Op::Allocate, &[U(2), U(1)]),
        (Op::Move, &[X(0), Y(1)]),
        (Op::Trim, &[U(1), U(1)]),
        (Op::CallExt, &[U(1), U(0)]),
        (Op::Move, &[Y(0), X(0)]),
        (Op::Deallocate, &[U(1)]),
        (Op::Return, &[]),
    ];
    accepted(trimmed);
    let meeting: &[(Op, &[Arg])] = &[(Op::IsNil, &[F(3), X(0)]), (Op::Allocate, &[U(0), U(1)]), (Op::Label, &[U(3)]), (Op::Return, &[])];
    refused(meeting, "the frame is still there (Mixed");
}

#[test]
fn calls_that_raise_end_a_way() {
    let beam = accepted(&[(Op::CallExtLast, &[U(1), U(1), U(77)])]);
    assert!(beam.never_returns(1) && !beam.never_returns(0));
}

#[test]
fn catch_tags_nest() {
    let frame = (Op::Allocate, &[U(2), U(1)][..]);
    let call = (Op::CallExt, &[U(1), U(0)][..]);
    let init = (Op::InitYregs, &[List(vec![Y(0), Y(1)])][..]);
    let done = [(Op::Deallocate, &[U(2)][..]), (Op::Return, &[][..])];
    let caught = [&[frame, init, (Op::Catch, &[Y(1), F(3)]), call, (Op::Label, &[U(3)]), (Op::CatchEnd, &[Y(1)])][..], &done];
    accepted(&caught.concat());
    let tried = [
        &[frame, init, (Op::Try, &[Y(1), F(3)]), call, (Op::TryEnd, &[Y(1)])][..],
        &done,
        &[(Op::Label, &[U(3)]), (Op::TryCase, &[Y(1)]), (Op::Move, &[X(2), X(0)])],
        &done,
    ];
    accepted(&tried.concat());
    refused(
        &[&[frame, init, (Op::Try, &[Y(1), F(3)]), call][..], &done, &[(Op::Label, &[U(3)]), (Op::TryCase, &[Y(1)])], &done].concat(),
        "catch tag is still",
    );
    refused(&[&[frame, init, (Op::Catch, &[Y(1), F(3)]), call, (Op::Label, &[U(3)])][..], &done].concat(), "does not start with catch_end");
    refused(&[&[frame, init, (Op::CatchEnd, &[Y(0)])][..], &done].concat(), "y0 holds no catch tag");
    let overwritten =
        [&[frame, init, (Op::Catch, &[Y(1), F(3)]), (Op::Move, &[X(0), Y(1)]), (Op::Label, &[U(3)]), (Op::CatchEnd, &[Y(1)])][..], &done];
    refused(&overwritten.concat(), "y1 holds a catch tag");
    let raw: &[(Op, &[Arg])] = &[frame, (Op::Bif1, &[F(0), U(0), X(0), X(0)]), (Op::Deallocate, &[U(2)]), (Op::Return, &[])];
    assert!(accepted(raw).raises_raw(0));
    assert!(!accepted(&tried.concat()).raises_raw(0));
}

/// The compiler knows that the BIF cannot fail, and leaves its failure label where its result is read.
#[test]
fn results_of_bifs_proved_to_succeed() {
    let body: &[(Op, &[Arg])] = &[
        (Op::Bif1, &[F(3), U(0), X(0), X(1)]),
        (Op::IsNil, &[F(3), X(1)]),
        (Op::Return, &[]),
        (Op::Label, &[U(3)]),
        (Op::Move, &[X(1), X(0)]),
        (Op::Return, &[]),
    ];
    let beam = accepted(body);
    assert!(beam.clears(3) && !beam.clears(4) && !beam.clears(7));
    let unused = [&body[..4], &[(Op::Return, &[][..])]].concat();
    assert!(!accepted(&unused).clears(3));
    // Only failure explains it.
    let other = [&[(Op::IsNil, &[F(3), X(0)][..])][..], body].concat();
    refused(&other, "X(1) has no value");
}

/// One end of the code raises for ways with different tags and frames.
#[test]
fn shared_ends_keep_their_tags() {
    let frame = (Op::Allocate, &[U(2), U(1)][..]);
    let init = (Op::InitYregs, &[List(vec![Y(0), Y(1)])][..]);
    let call = (Op::CallExt, &[U(1), U(0)][..]);
    let done = [(Op::Deallocate, &[U(2)][..]), (Op::Return, &[][..])];
    let body = [
        &[
            (Op::IsNil, &[F(5), X(0)][..]),
            frame,
            init,
            (Op::Try, &[Y(1), F(3)]),
            (Op::Try, &[Y(0), F(4)]),
            call,
            (Op::IsNil, &[F(5), X(0)]),
        ],
        &[(Op::TryEnd, &[Y(0)][..]), (Op::TryEnd, &[Y(1)])][..],
        &done,
        &[(Op::Label, &[U(4)][..]), (Op::TryCase, &[Y(0)]), (Op::IsNil, &[F(5), X(0)]), (Op::TryEnd, &[Y(1)])],
        &done,
        &[(Op::Label, &[U(3)][..]), (Op::TryCase, &[Y(1)]), (Op::IsNil, &[F(5), X(0)])],
        &done,
        &[(Op::Label, &[U(5)][..]), (Op::IfEnd, &[])],
    ];
    accepted(&body.concat());
}
