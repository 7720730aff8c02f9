%% Case on many integers, atoms, tuple sizes, and mixed kinds.
-module(lang_select_val).
-export([main/1]).

main(_) ->
    t:w(ints, [i(N) || N <- [0, 1, 2, 3, 50, 99, 100, -1, 1000000, 1 bsl 62, a, 2.0]]),
    t:w(dense, [d(N) || N <- lists:seq(-1, 12)]),
    t:w(atoms, [a(A) || A <- [a, b, c, d, e, f, g, h, zz, 1]]),
    t:w(arity, [ar(T) || T <- [{}, {1}, {1, 2}, {1, 2, 3}, {1, 2, 3, 4}, x]]),
    t:w(bigs, [b(X) || X <- [1 bsl 64, 1 bsl 65, -(1 bsl 64), 1.0e19, 0]]),
    t:w(floats, [fl(X) || X <- [1.0, 2.5, 1, -0.0, 0.0]]),
    t:w(strings, [s(X) || X <- ["one", "two", "three", "thr", ""]]).
i(0) -> zero; i(1) -> one; i(50) -> fifty; i(99) -> n99; i(1000000) -> million; i(-1) -> minus; i(4611686018427387904) -> big62; i(a) -> atom; i(_) -> other.
d(0) -> z; d(1) -> a; d(2) -> b; d(3) -> c; d(4) -> d; d(5) -> e; d(6) -> f; d(7) -> g; d(8) -> h; d(9) -> i; d(10) -> j; d(_) -> none.
a(a) -> 1; a(b) -> 2; a(c) -> 3; a(d) -> 4; a(e) -> 5; a(f) -> 6; a(g) -> 7; a(h) -> 8; a(_) -> 0.
ar({}) -> 0; ar({_}) -> 1; ar({_, _}) -> 2; ar({_, _, _}) -> 3; ar({_, _, _, _}) -> 4; ar(_) -> no.
b(18446744073709551616) -> p64; b(36893488147419103232) -> p65; b(-18446744073709551616) -> m64; b(1.0e19) -> f; b(_) -> no.
fl(1.0) -> one; fl(2.5) -> half; fl(-0.0) -> mzero; fl(+0.0) -> zero; fl(_) -> no.
s("one") -> 1; s("two") -> 2; s("three") -> 3; s("") -> 0; s(_) -> no.
