//! The table of fused operations, by family. A family has a line for every kind of register that compiled code uses often there.

use crate::ctx::{COMPARE_CELLS, Dispatch, Either, K, OpFn, R, Then, X, Y, fused};
use crate::ops::{
    arith::*, bifs::*, booleans::*, calls::*, data::*, direct::*, floats::*, frames::*, funs::*, natives::call_native, tests::*,
};

/// Operations that become one when they follow each other.
pub struct Sequence {
    pub ops: Vec<usize>,
    pub checks: Vec<FusedCheck>,
    pub done: usize,
    pub fused: OpFn,
}

/// An additional condition. Operations are counted from the first of the sequence.
#[derive(Clone, Copy)]
pub enum FusedCheck {
    /// An operand has this value.
    Cell { op: usize, cell: usize, value: u64 },
    /// A label is the place of that operation.
    Label { op: usize, cell: usize, to: usize },
}

/// What a type parameter of an operation says about its cell.
trait Operand {
    /// The parameter of the operation as the loader first emits it.
    type General;
    /// The only allowed value of the cell, if there is one.
    const FIXED: Option<u64> = None;
}

macro_rules! general {
    ($($name:ident)*) => { $(impl Operand for $name { type General = $name; })* };
}
general!(X Y K IsCons IsNil IsTuple IsInteger ExactEq ExactNe Eq Ne Lt Ge);

impl<const N: usize> Operand for R<N> {
    type General = X;
    const FIXED: Option<u64> = Some(N as u64 * 8);
}

/// Cells of an operation's type parameters.
fn cells(op: &str) -> &'static [usize] {
    match op {
        "get_element" => &[1, 3],
        "get_elements_2" => &[1, 3, 4],
        "test_heap_put_list" | "test_heap_put_list_direct" => &[3, 4, 5],
        _ => &[1, 2, 3, 4],
    }
}

fn checks(ops: &[(&str, &[Option<u64>])]) -> Vec<FusedCheck> {
    let mut checks = Vec::new();
    for (op, (name, fixed)) in ops.iter().enumerate() {
        for (i, value) in fixed.iter().enumerate() {
            if let Some(value) = *value {
                checks.push(FusedCheck::Cell { op, cell: cells(name)[i], value });
            }
        }
    }
    checks
}

/// The type that runs the listed operations in a row.
macro_rules! row {
    ($op:ident $(<$($g:ty),*>)?) => { Then<$op $(<$($g),*>)?, Dispatch> };
    ($op:ident $(<$($g:ty),*>)?, $($rest:tt)*) => { Then<$op $(<$($g),*>)?, row!($($rest)*)> };
}

/// The sequence of the listed operations.
macro_rules! sequence {
    ($fused:ty; $done:expr; $($op:ident $(<$($g:ty),*>)?),+) => {{
        let ops = vec![$($op $(::<$(<$g as Operand>::General),*>)? as OpFn as usize),+];
        Sequence {
            done: $done.unwrap_or(ops.len()),
            ops,
            checks: checks(&[$((stringify!($op), &[$($(<$g as Operand>::FIXED),*)?])),+]),
            fused: fused::<$fused>,
        }
    }};
}

/// Adds sequences to a table: `fuse!(table; [add<X, K, X>, call] [sub<X, K, X>, call])`.
macro_rules! fuse {
    ($table:ident; $([$($op:ident $(<$($g:ty),*>)?),+])*) => {
        $($table.push(sequence!(row!($($op $(<$($g),*>)?),+); None; $($op $(<$($g),*>)?),+));)*
    };
}

/// Adds a comparison with both of its continuations, where its label is right after the first: `either!(table; is_ge<X, X>; [ret]
/// [call_only])`.
macro_rules! either {
    ($table:ident; $test:ident<$a:ty, $b:ty>; [$($yes:ident $(<$($gy:ty),*>)?),+] [$($no:ident $(<$($gn:ty),*>)?),+]) => {{
        let held = [$(stringify!($yes)),+].len();
        let mut sequence = sequence!(
            Either<$test<$a, $b>, row!($($yes $(<$($gy),*>)?),+), row!($($no $(<$($gn),*>)?),+)>;
            Some(1 + held);
            $test<$a, $b>, $($yes $(<$($gy),*>)?,)+ $($no $(<$($gn),*>)?),+
        );
        sequence.checks.push(FusedCheck::Label { op: 0, cell: COMPARE_CELLS - 1, to: 1 + held });
        $table.push(sequence);
    }};
}

/// Repeats statements with a name standing for each of several types.
macro_rules! each {
    ($name:ident in [$($t:ty)*] $body:block) => { $({ type $name = $t; $body })* };
}

pub fn all() -> Vec<Sequence> {
    let mut table = Vec::with_capacity(1024);
    arithmetic(&mut table);
    recursion(&mut table);
    frames(&mut table);
    tests(&mut table);
    building(&mut table);
    moves(&mut table);
    floats(&mut table);
    table
}

fn arithmetic(t: &mut Vec<Sequence>) {
    each!(A in [X Y] {
        each!(B in [X Y K] {
            fuse!(t;
                [add<A, B, X>, call] [sub<A, B, X>, call]
                [add<A, B, X>, deallocate_return] [sub<A, B, X>, deallocate_return] [mul<A, B, X>, deallocate_return]
                [add<A, B, X>, call_last] [sub<A, B, X>, call_last]
                [add<A, B, X>, move_1<X, Y>, move_call<X, X>] [sub<A, B, X>, move_1<X, Y>, move_call<X, X>]
                [add<A, B, X>, move_call<Y, X>] [sub<A, B, X>, move_call<Y, X>]
                [add<A, B, X>, move_call_last<Y, X>] [sub<A, B, X>, move_call_last<Y, X>]
            );
        });
    });
    each!(B in [X K] {
        fuse!(t;
            [add<X, B, X>, call_only] [sub<X, B, X>, call_only]
            [add<X, B, X>, ret] [sub<X, B, X>, ret] [mul<X, B, X>, ret]
            [add<X, B, X>, move_call_only<X, X>] [sub<X, B, X>, move_call_only<X, X>]
            [sub<X, B, X>, get_element<X, X>] [sub<X, B, X>, get_element<X, X>, add<X, K, X>]
            [add<X, B, X>, get_element<X, X>] [get_element<X, X>, add<X, B, X>]
            [get_element<X, X>, add<X, B, X>, test_heap]
            [add<X, B, X>, int_rem<X, K, X>]
            [int_rem<X, B, X>, is_eq_immediate<X>] [int_rem<X, B, X>, is_ne_immediate<X>]
            [band<X, B, X>, is_eq_immediate<X>]
            [int_rem<X, B, X>, get_element<X, X>, add<X, X, X>]
            [mul<X, B, X>, add<X, K, X>] [mul<X, B, X>, add<X, X, X>]
            [int_div<X, B, X>, add<X, K, X>, call_only]
            [sub<X, B, X>, sub<X, K, X>] [sub<X, B, X>, sub<X, X, X>]
            [add<X, B, X>, add<X, K, X>] [add<X, B, X>, add<X, X, X>]
            [add<X, B, X>, add<X, K, X>, call_only]
            [sub<X, B, X>, add<X, K, X>, call_only] [add<X, B, X>, sub<X, K, X>, call_only]
            [add<X, B, X>, is_lt<X, X>] [add<X, B, X>, is_ge<X, X>]
            [is_cons_get_list<X, X, X>, add<X, B, X>] [is_cons_get_list<X, X, X>, add<X, B, X>, call_only]
        );
    });
    each!(D in [X Y] {
        each!(S in [X Y] {
            fuse!(t;
                [sub<Y, K, X>, move_2<Y, X, X, D>] [sub<Y, K, X>, move_2<Y, X, X, D>, move_2<S, X, X, X>]
                [sub<Y, K, X>, move_2<Y, X, X, D>, move_2<S, X, X, X>, move_call<X, X>]
                [sub<Y, K, X>, move_2<Y, X, X, D>, move_call<S, X>]
                [add<Y, K, X>, move_2<Y, X, X, D>, move_call<S, X>]
            );
        });
    });
}

/// Sequences at the beginning of recursive functions, and between their calls.
fn recursion(t: &mut Vec<Sequence>) {
    macro_rules! bases {
        ($($test:ident<$a:ty, $b:ty>)*) => {
            $(bases!(@ $test<$a, $b>; [ret] [move_return<X, R<0>>] [move_return<K, R<0>>]);)*
        };
        (@ $test:ident<$a:ty, $b:ty>; $([$($base:tt)*])*) => {
            $(
                either!(t; $test<$a, $b>; [$($base)*] [allocate_move, sub<R<0>, K, R<0>>, call]);
                either!(t; $test<$a, $b>; [$($base)*] [allocate_move, add<R<0>, K, R<0>>, call]);
                either!(t; $test<$a, $b>; [$($base)*] [allocate_move, move_1<X, Y>, sub<R<0>, K, R<0>>, call]);
                either!(t; $test<$a, $b>; [$($base)*] [allocate_move, move_2<X, Y, X, Y>, sub<R<0>, K, R<0>>, call]);
                either!(t; $test<$a, $b>; [$($base)*] [allocate, init_yreg, move_2<X, Y, X, Y>, move_1<X, Y>, sub<R<0>, K, R<0>>, call]);
                either!(t; $test<$a, $b>; [$($base)*] [sub<R<0>, K, R<0>>, call_only]);
                either!(t; $test<$a, $b>; [$($base)*] [add<R<0>, K, R<0>>, call_only]);
            )*
        };
    }
    bases!(is_ge<X, X> is_ge<K, R<0>> is_ge<R<0>, K> is_lt<X, X> is_lt<K, R<0>> is_lt<R<0>, K>);
    fuse!(t;
        [allocate_move, sub<R<0>, K, R<0>>, call] [allocate_move, add<R<0>, K, R<0>>, call]
        [sub<Y, K, R<0>>, call] [add<Y, K, R<0>>, call]
        [sub<Y, K, R<1>>, move_1<R<0>, Y>, move_call<R<1>, R<0>>] [add<Y, K, R<1>>, move_1<R<0>, Y>, move_call<R<1>, R<0>>]
        [add<Y, R<0>, R<0>>, deallocate_return] [mul<Y, R<0>, R<0>>, deallocate_return] [add<R<0>, K, R<0>>, deallocate_return]
        [sub<R<0>, K, R<0>>, call_only] [add<R<0>, K, R<0>>, call_only]
        [sub<Y, K, R<1>>, move_2<Y, X, R<0>, Y>, move_2<Y, X, R<1>, R<0>>, move_call<X, R<1>>]
        [sub<Y, K, R<1>>, move_2<Y, X, R<0>, Y>, move_2<Y, X, R<1>, R<0>>, move_2<X, R<1>, Y, Y>, deallocate, call]
    );
}

fn frames(t: &mut Vec<Sequence>) {
    fuse!(t;
        [allocate_move, call] [allocate_move, call_ext] [allocate_move, call_native]
        [allocate, init_yreg] [allocate, init_yregs_2] [allocate, init_yreg, call]
        [allocate, init_yregs_2, move_1<X, Y>] [allocate, init_yregs_2, move_2<X, Y, X, Y>] [allocate, call]
        [deallocate, call] [allocate_move, call_fun]
        [call_native, ret] [call_native, deallocate_return]
        [test_1<X, IsCons>, allocate] [test_1<X, IsCons>, allocate_move] [test_1<X, IsTuple>, allocate_move]
    );
    each!(B in [X K] {
        fuse!(t;
            [allocate_move, add<X, B, X>, call] [allocate_move, sub<X, B, X>, call]
            [allocate_move, move_2<X, Y, X, Y>, sub<X, B, X>, call] [allocate_move, move_2<X, Y, X, Y>, add<X, B, X>, call]
            [allocate_move, move_1<X, Y>, sub<X, B, X>, call] [allocate_move, move_1<X, Y>, add<X, B, X>, call]
            [move_1<X, Y>, sub<X, B, X>, call]
        );
    });
    each!(S in [X Y K] {
        fuse!(t;
            [allocate_move, move_1<S, X>] [allocate_move, move_1<S, X>, call_native] [allocate_move, move_1<S, X>, call_ext]
            [allocate_move, move_call<S, X>] [allocate_move, move_1<X, Y>, move_call<S, X>]
            [allocate_move, move_2<X, Y, X, Y>, move_call<S, X>]
            [deallocate, move_call<S, X>]
            [allocate, init_yreg, move_1<X, Y>, move_call<S, X>] [allocate, init_yreg, move_call<S, X>]
            [init_yreg, move_1<S, X>] [init_yreg, move_call<S, X>]
        );
    });
    fuse!(t;
        [allocate_move, move_1<X, Y>] [allocate_move, move_2<X, Y, X, Y>] [allocate_move, move_2<X, Y, X, X>]
        [allocate_move, move_2<X, Y, X, Y>, move_1<X, Y>] [allocate_move, move_2<X, Y, X, Y>, move_1<X, X>]
        [allocate_move, move_2<X, Y, X, Y>, move_2<X, Y, X, Y>] [allocate_move, move_2<X, Y, X, Y>, move_2<X, Y, X, X>]
        [allocate, init_yreg, move_1<X, Y>] [allocate, init_yreg, move_2<X, Y, X, Y>]
        [allocate, init_yreg, move_2<X, Y, X, Y>, move_1<X, Y>] [allocate, init_yreg, move_2<X, Y, X, Y>, move_1<X, Y>, sub<X, K, X>, call] [allocate, init_yreg, move_2<X, Y, X, Y>, move_2<X, Y, X, Y>]
        [allocate, move_2<X, Y, X, Y>]
        [allocate, swap] [swap, call_fun2]
    );
    each!(H in [X Y] {
        each!(T in [X Y] {
            fuse!(t;
                [allocate_move, get_list<X, H, T>] [allocate_move, get_list<X, H, T>, call]
                [allocate_move, get_list<X, H, T>, move_1<X, X>] [allocate_move, get_list<X, H, T>, move_1<X, X>, call_fun2]
                [test_1<X, IsCons>, allocate_move, get_list<X, H, T>, move_1<X, X>, call_fun2]
                [test_1<X, IsCons>, allocate_move, get_list<X, H, T>] [test_1<X, IsCons>, allocate_move, get_list<X, H, T>, call]
                [allocate, get_list<X, H, T>, call]
                [test_1<X, IsCons>, allocate, get_list<X, H, T>, call] [test_1<X, IsCons>, allocate, get_list<X, H, T>]
                [allocate_move, move_1<X, Y>, get_list<X, H, T>] [allocate_move, move_1<X, Y>, get_list<X, H, T>, call]
            );
        });
    });
    each!(S in [X Y] {
        each!(D in [X Y] {
            fuse!(t;
                [move_1<S, D>, deallocate, call] [move_2<Y, X, S, D>, deallocate, call] [move_2<X, X, S, D>, deallocate, call]
                [move_2<X, Y, S, D>, deallocate, call]
                [move_1<S, D>, deallocate, move_call<Y, X>] [move_1<S, D>, deallocate, move_call<X, X>]
                [move_2<Y, X, S, D>, deallocate, move_call<Y, X>] [move_2<X, X, S, D>, deallocate, move_call<Y, X>]
                [move_2<Y, X, X, X>, move_1<S, D>, deallocate, call]
            );
        });
    });
}

fn tests(t: &mut Vec<Sequence>) {
    fuse!(t;
        [is_ge<X, X>, ret] [is_ge<X, K>, ret] [is_ge<K, X>, ret] [is_lt<X, X>, ret] [is_lt<X, K>, ret] [is_lt<K, X>, ret]
        [test_1<X, IsNil>, ret] [is_eq_immediate<X>, ret]
        [is_ge<X, K>, is_ge<K, X>] [is_ge<K, X>, is_ge<X, K>] [is_ge<X, X>, is_ge<X, X>] [is_ge<X, X>, is_ge<X, X>, is_ge<X, X>]
        [test_1<X, IsInteger>, is_ge<X, K>] [test_1<X, IsInteger>, is_ge<X, K>, is_ge<K, X>]
        [test_1<X, IsInteger>, is_ge<K, X>] [test_1<X, IsInteger>, is_ge<K, X>, is_ge<X, K>]
        [test_1<X, IsTuple>, select_arity<X>] [test_1<X, IsTuple>, test_arity<X>]
        [test_1<X, IsTuple>, test_arity<X>, get_element<X, X>] [test_1<X, IsTuple>, test_arity<X>, get_element<X, X>, is_lt<X, X>]
        [test_1<X, IsTuple>, test_arity<X>, get_elements_2<X, X, X>]
        [test_1<X, IsTuple>, test_arity<X>, get_elements_2<X, X, X>, is_eq_immediate<X>]
        [test_1<X, IsTuple>, test_arity<X>, get_elements_2<X, X, X>, get_elements_2<X, X, X>, is_lt<X, X>]
        [test_1<X, IsTuple>, test_arity<X>, get_elements_2<X, X, X>, get_element<X, X>, is_lt<X, X>]
        [is_tuple_of_arity<X>, get_elements_2<X, X, X>, get_elements_2<X, X, X>]
        [get_element<X, X>, is_lt<X, X>] [get_elements_2<X, X, X>, is_lt<X, X>] [is_lt<X, X>, get_element<X, X>]
        [is_lt<X, X>, get_element<X, X>, call_only]
        [is_tagged_tuple<X>, get_element<X, X>] [is_tagged_tuple<X>, get_elements_2<X, X, X>]
        [is_tagged_tuple<X>, get_elements_2<X, X, X>, get_element<X, X>]
        [is_tagged_tuple<X>, get_element<X, X>, get_element<X, X>] [is_tagged_tuple<X>, get_element<X, X>, is_eq_immediate<X>]
        [is_tagged_tuple<X>, get_element<X, X>, is_tagged_tuple<X>]
        [is_tagged_tuple<X>, allocate_move] [is_tagged_tuple<X>, allocate, init_yreg]
        [is_tuple_of_arity<X>, get_element<X, X>] [is_tuple_of_arity<X>, get_elements_2<X, X, X>]
        [is_tuple_of_arity<X>, get_element<X, X>, select_linear<X>] [is_tuple_of_arity<X>, get_elements_2<X, X, X>, select_linear<X>]
        [get_element<X, X>, select_linear<X>] [get_elements_2<X, X, X>, select_linear<X>]
        [get_element<X, X>, select_binary<X>] [get_elements_2<X, X, X>, select_binary<X>]
        [get_elements_2<X, X, X>, get_element<X, X>, select_linear<X>] [get_element<X, X>, get_element<X, X>, select_linear<X>]
        [get_element<X, X>, is_eq_immediate<X>] [get_elements_2<X, X, X>, is_eq_immediate<X>]
        [get_element<X, X>, is_eq_immediate<X>, allocate, init_yreg]
        [get_element<X, X>, is_tagged_tuple<X>] [get_element<X, X>, is_tuple_of_arity<X>]
        [get_element<X, X>, is_tagged_tuple<X>, get_element<X, X>] [get_element<X, X>, is_tuple_of_arity<X>, get_element<X, X>]
        [get_element<X, X>, test_1<X, IsInteger>, is_ge<X, K>]
        [get_elements_2<X, X, X>, get_elements_2<X, X, X>] [get_elements_2<X, X, X>, get_element<X, X>]
        [get_element<X, X>, get_element<X, X>] [get_element<X, X>, get_elements_2<X, X, X>]
        [is_eq_immediate<X>, allocate_move] [is_ne_immediate<X>, allocate_move] [is_eq_immediate<X>, allocate, init_yreg]
        [is_eq_immediate<X>, allocate_move, move_2<X, Y, X, Y>] [is_ne_immediate<X>, allocate_move, call] [is_eq_immediate<X>, allocate_move, call]
        [int_rem<X, K, X>, is_ne_immediate<X>, allocate_move, call]
        [int_rem<X, K, X>, is_eq_immediate<X>, int_div<X, K, X>, add<X, K, X>, call_only]
        [is_ne_exact<X, X>, is_eq_immediate<X>] [is_ne_exact<X, X>, sub<X, X, X>]
        [is_cons_get_list<X, X, X>, is_eq_immediate<X>] [is_cons_get_list<X, X, X>, is_tagged_tuple<X>]
        [is_cons_get_list<X, X, X>, is_cons_get_list<X, X, X>] [is_cons_get_list<X, X, X>, is_tuple_of_arity<X>]
        [is_cons_get_list<X, X, X>, is_cons_get_list<X, X, X>, is_eq_immediate<X>]
        [is_cons_get_list<X, X, X>, is_tuple_of_arity<X>, get_element<X, X>]
        [is_cons_get_list<X, X, X>, is_tagged_tuple<X>, get_elements_2<X, X, X>]
        [is_cons_get_list<X, X, X>, is_ge<X, X>] [is_cons_get_list<X, X, X>, is_lt<X, X>]
        [is_cons_get_list<X, X, X>, is_ne_exact<X, X>] [is_cons_get_list<X, X, X>, is_ne_exact<X, X>, sub<X, X, X>]
        [is_cons_get_list<X, X, X>, is_ne_exact<X, X>, sub<X, X, X>, abs<X, X>, is_eq_exact<X, X>]
        [sub<X, X, X>, abs<X, X>, is_eq_exact<X, X>] [sub<X, X, X>, abs<X, X>]
        [is_cons_get_list<X, X, X>, is_eq_exact<X, X>]
        [is_cons_get_list<X, X, X>, mul<X, X, X>] [is_cons_get_list<X, X, X>, int_rem<X, K, X>]
        [is_cons_get_list<X, X, X>, int_rem<X, K, X>, is_eq_immediate<X>] [is_cons_get_list<X, X, X>, int_rem<X, K, X>, is_ne_immediate<X>]
    );
    each!(T in [ExactEq ExactNe Eq Ne Lt Ge] {
        fuse!(t; [compared<X, X, X, T>, ret] [compared<X, K, X, T>, ret] [compared<K, X, X, T>, ret]);
    });
    each!(S in [X Y K] {
        fuse!(t;
            [is_ge<X, X>, move_return<S, X>] [is_ge<X, K>, move_return<S, X>] [is_ge<K, X>, move_return<S, X>]
            [is_lt<X, X>, move_return<S, X>] [is_lt<X, K>, move_return<S, X>] [is_lt<K, X>, move_return<S, X>]
            [test_1<X, IsNil>, move_return<S, X>] [is_eq_immediate<X>, move_return<S, X>] [is_eq_exact<X, X>, move_return<S, X>]
            [is_eq_immediate<X>, move_1<S, X>, deallocate_return]
        );
    });
}

fn building(t: &mut Vec<Sequence>) {
    fuse!(t;
        [test_heap, put_tuple_2<X>] [test_heap, put_tuple_2<X>, ret] [test_heap, put_tuple_2<X>, deallocate_return]
        [test_heap, put_tuple_3<X>] [test_heap, put_tuple_3<X>, ret] [test_heap, put_tuple_3<X>, deallocate_return]
        [test_heap, put_tuple_4<X>] [test_heap, put_tuple_4<X>, ret] [test_heap, put_tuple_4<X>, deallocate_return]
        [test_heap, put_tuple_5<X>] [test_heap, put_tuple_5<X>, ret] [test_heap, put_tuple_5<X>, deallocate_return]
        [test_heap, put_tuple_4<X>, move_call_only<X, X>] [test_heap, put_tuple_5<X>, move_call_only<X, X>]
        [add<X, K, X>, test_heap, put_tuple_5<X>, move_call_only<X, X>]
        [test_heap, put_tuple_2<X>, put_tuple_2<X>, ret] [test_heap, put_tuple_2<X>, put_tuple_2<X>]
        [test_heap, update_record, ret] [test_heap, update_record, deallocate_return] [test_heap, update_record]
        [put_tuple_2<X>, ret] [put_tuple_2<X>, deallocate_return] [put_tuple_3<X>, ret] [put_tuple_3<X>, deallocate_return]
        [put_tuple_4<X>, ret] [put_tuple_4<X>, deallocate_return] [put_tuple_5<X>, ret] [put_tuple_5<X>, deallocate_return]
    );
    each!(H in [X Y K] {
        each!(T in [X Y K] {
            fuse!(t;
                [test_heap_put_list<H, T, X>, deallocate_return] [test_heap_put_list<H, T, X>, ret]
                [test_heap_put_list<H, T, X>, call_only] [test_heap_put_list<H, T, X>, call_last]
                [test_heap_put_list_direct<H, T, X>, call_only] [test_heap_put_list_direct<H, T, X>, move_call_only<X, X>]
                [test_heap_put_list<H, T, X>, move_call_only<X, X>] [test_heap_put_list<H, T, X>, move_call_last<Y, X>]
                [put_list<H, T, X>, ret] [put_list<H, T, X>, deallocate_return] [put_list<H, T, X>, call_only]
                [put_list<H, T, X>, move_call_only<X, X>]
                [test_heap, put_tuple_2<X>, put_list<H, T, X>] [test_heap, put_tuple_2<X>, put_list<H, T, X>, deallocate_return]
                [put_tuple_2<X>, put_list<H, T, X>, deallocate_return] [put_tuple_2<X>, put_list<H, T, X>]
                [test_heap_put_list<H, T, X>, put_list<X, X, X>] [put_list<H, T, X>, put_list<X, X, X>]
            );
        });
    });
}

fn moves(t: &mut Vec<Sequence>) {
    each!(S in [X Y K] {
        fuse!(t;
            [move_1<S, X>, call_ext] [move_1<S, X>, call_native] [move_1<S, X>, call_native, ret] [move_1<S, X>, deallocate_return]
            [move_1<S, X>, call_native, deallocate_return]
            [move_1<S, X>, call_fun2] [move_1<S, X>, call_ext_last] [move_1<S, X>, call_ext_only] [move_1<S, X>, get_list<X, X, X>]
            [move_1<S, X>, call_fun_last] [move_1<S, X>, call_fun] [move_1<S, X>, call_fun2_last]
        );
        each!(D in [X Y] {
            fuse!(t;
                [move_1<S, D>, move_call<X, X>] [move_1<S, D>, move_call<Y, X>] [move_1<S, D>, move_call<K, X>]
                [move_1<S, D>, move_call_last<X, X>] [move_1<S, D>, move_call_last<Y, X>]
                [move_1<S, D>, move_call_only<X, X>]
                [get_list<X, X, Y>, move_1<S, D>] [get_list<X, Y, X>, move_1<S, D>] [get_list<Y, X, Y>, move_1<S, D>]
            );
        });
    });
    macro_rules! pairs {
        ($([$s1:ident $d1:ident $s2:ident $d2:ident])*) => {
            $(
                each!(S in [X Y K] {
                    fuse!(t;
                        [move_2<$s1, $d1, $s2, $d2>, move_1<S, X>]
                        [move_2<$s1, $d1, $s2, $d2>, move_call<S, X>]
                        [move_2<$s1, $d1, $s2, $d2>, move_call_last<S, X>]
                        [move_2<$s1, $d1, $s2, $d2>, move_call_only<S, X>]
                        [move_2<$s1, $d1, $s2, $d2>, move_1<S, X>, call_ext]
                        [move_2<$s1, $d1, $s2, $d2>, move_1<S, X>, call_native]
                    );
                    each!(D in [X Y] {
                        fuse!(t;
                            [move_2<$s1, $d1, $s2, $d2>, move_2<X, X, S, D>] [move_2<$s1, $d1, $s2, $d2>, move_2<Y, X, S, D>]
                            [move_2<$s1, $d1, $s2, $d2>, move_2<X, Y, S, D>]
                            [move_2<$s1, $d1, $s2, $d2>, move_2<Y, X, X, D>, move_call<S, X>]
                        );
                    });
                });
                fuse!(t;
                    [move_2<$s1, $d1, $s2, $d2>, call_ext] [move_2<$s1, $d1, $s2, $d2>, call_native]
                    [move_2<$s1, $d1, $s2, $d2>, move_1<X, Y>]
                    [move_2<$s1, $d1, $s2, $d2>, call_fun2]
                );
            )*
        };
    }
    pairs!([X X X X] [X X Y X] [Y X X X] [Y X Y X] [X Y X X] [X Y X Y] [X Y Y X] [Y X X Y] [X X X Y] [K X X X] [K X Y X]);
}

fn floats(t: &mut Vec<Sequence>) {
    macro_rules! operators {
        ($($op:ident)*) => {
            $(fuse!(t;
                [fload<X>, $op] [fload<K>, $op] [fload<X>, fload<X>, $op] [fload<X>, fload<K>, $op] [fload<K>, fload<X>, $op]
                [$op, fload<X>, $op] [$op, fload<X>, fmul] [$op, fload<X>, fadd]
                [fload<X>, $op, fload<X>, fmul] [fload<X>, $op, fload<X>, fadd] [fload<X>, $op, fload<X>, fsub]
                [fload<X>, fload<X>, $op, fload<X>, fadd] [fload<X>, fload<X>, $op, fload<X>, fmul]
                [fload<X>, fload<K>, $op, fload<X>, fmul] [fload<X>, fload<K>, $op, fload<X>, fmul, fload<X>, fadd]
                [$op, $op] [$op, test_heap] [$op, test_heap, fstore] [$op, test_heap, fstore, fstore]
                [$op, test_heap, fstore, ret] [$op, test_heap, fstore, deallocate_return]
                [fload<X>, $op, test_heap, fstore, fstore] [fload<X>, $op, fload<X>, fmul, test_heap, fstore, fstore]
            );)*
        };
    }
    operators!(fadd fsub fmul fdiv);
    fuse!(t;
        [test_heap, fstore] [fstore, fstore] [test_heap, fstore, fstore] [fload<X>, fload<X>] [fload<X>, fload<K>]
        [fstore, fstore, add<X, K, X>, call_only] [test_heap, fstore, fstore, add<X, K, X>, call_only]
        [add<X, X, X>, is_lt<K, X>] [fstore, call_only] [test_heap, fstore, call_only]
    );
}
