%% Guards: type tests, failing expressions, the two kinds of or, what is true.
-module(lang_guards).
-export([main/1]).

main(_) ->
    Things = [0, 1, -5, 2.0, a, true, false, "l", [], {}, {a, b}, <<1>>, <<1:3>>, #{}, #{a => 1}, fun() -> ok end, 1 bsl 90, self(), make_ref()],
    [t:w(kinds, {T, kinds(T)}) || T <- Things],
    [t:w(g1, {T, g1(T)}) || T <- Things],
    [t:w(g2, {T, g2(T)}) || T <- Things],
    t:w(and_, [{A, B, try (t:id(A) and t:id(B)) catch error:E -> E end} || A <- [true, false, 1], B <- [true, false, 2]]),
    t:w(andalso_, [{A, B, try (t:id(A) andalso t:id(B)) catch error:E -> E end} || A <- [true, false, 1], B <- [true, false, 2]]),
    t:w(or_, [{A, B, try (t:id(A) or t:id(B)) catch error:E -> E end} || A <- [true, false, 1], B <- [true, false, 2]]),
    t:w(orelse_, [{A, B, try (t:id(A) orelse t:id(B)) catch error:E -> E end} || A <- [true, false, 1], B <- [true, false, 2]]),
    t:w(xor_, [{A, B, try (t:id(A) xor t:id(B)) catch error:E -> E end} || A <- [true, false, 1], B <- [true, false, 2]]),
    t:w(not_, [try not t:id(A) catch error:E -> E end || A <- [true, false, x, 1]]),
    t:e(nothing, fun() -> X = t:id(1), if X =:= 2 -> a end end),
    t:w(order, [ord(X) || X <- [5, 50, 500, a, 5.5]]).
kinds(T) ->
    [K || {K, true} <- [{atom, is_atom(T)}, {int, is_integer(T)}, {float, is_float(T)}, {num, is_number(T)}, {list, is_list(T)}, {tuple, is_tuple(T)},
        {bin, is_binary(T)}, {bits, is_bitstring(T)}, {map, is_map(T)}, {fun_, is_function(T)}, {fun0, is_function(T, 0)}, {pid, is_pid(T)},
        {ref, is_reference(T)}, {bool, is_boolean(T)}, {port, is_port(T)}, {pair, is_record(T, a, 2)}]].
g1(X) when length(X) > 0; X > 1, X < 10 -> yes;
g1(X) when hd(X) =:= $a; element(1, X) =:= a -> elem;
g1(X) when map_size(X) >= 0 -> map;
g1(X) when bit_size(X) rem 8 =/= 0 -> bits;
g1(_) -> no.
g2(X) when X div 0 =:= 1; tuple_size(X) =:= 0 -> div0;
g2(X) when is_integer(X) orelse length(X) =:= 1 -> int_or_one;
g2(X) when (X andalso true) or (X =:= false) -> bool;
g2(X) when abs(X) > 1.5 -> abs;
g2(X) when is_map_key(a, X), map_get(a, X) =:= 1 -> a1;
g2(X) when byte_size(X) =:= 1 -> byte;
g2(X) when self() =:= X; node(X) =:= node() -> me;
g2(_) -> other.
ord(X) when X > 10, X < 100; X =:= 500 -> mid;
ord(X) when is_float(X), round(X) =:= 6; trunc(X) =:= 5 -> five;
ord(_) -> none.
