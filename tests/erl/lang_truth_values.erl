%% Comparisons, type tests and operators of booleans whose result is a value in a register, over every pair of many terms.
-module(lang_truth_values).
-export([main/1]).

main(_) ->
    Terms = terms(),
    [io:format("~s ~s~n", [Name, [mark(apart(Test, A)) || A <- Terms]]) || {Name, Test} <- tests()],
    [io:format("~s~n~s", [Name, [[[mark(apart(Test, A, B)) || B <- Terms], $\n] || A <- Terms]]) || {Name, Test} <- comparisons()],
    Booleans = [true, false, 1, undefined, [], {true}, <<"true">>],
    [io:format("~s ~s~n", [Name, [mark(apart(Test, A)) || A <- Booleans]]) || {Name, Test} <- [{"not", fun(A) -> not A end}, {"not y", fun not_kept/1}]],
    [io:format("~s ~s~n", [Name, [[mark(apart(Test, A, B)) || B <- Booleans] ++ " " || A <- Booleans]]) || {Name, Test} <- operators()],
    [io:format("~s ~s~n", [Name, [[mark(apart(Test, A, B)) || B <- Terms] ++ " " || A <- Booleans]]) || {Name, Test} <- guards()],
    [io:format("~s ~s~n", [Name, [mark(apart(Test, A)) || A <- Terms]]) || {Name, Test} <- constants()],
    io:format("~p~n", [try (id(1) >= id(a)) and id(maybe_true) catch C:R:Stack -> {C, R, [{M, F, Args} || {M, F, Args, _} <- lists:sublist(Stack, 1)]} end]).

terms() ->
    [0, 1, -1, 1 bsl 59 - 1, -(1 bsl 59), 1 bsl 59, 1 bsl 64, -(1 bsl 64), 1 bsl 64 + id(0), 0.0, -0.0, 1.0, 1.5, 5.764607523034235e17,
     a, b, true, false, [], [1], [1.0], [1 | 2], "text", {}, {1}, {1.0}, {a, b}, #{}, #{1 => 2}, #{1.0 => 2}, <<>>, <<"x">>, <<1:3>>,
     binary:copy(<<"x">>, 100), self(), hd(processes()), make_ref(), hd(erlang:ports()), fun erlang:abs/1, fun id/1].

tests() ->
    [{"is_integer", fun(A) -> is_integer(A) end}, {"is_float", fun(A) -> is_float(A) end}, {"is_number", fun(A) -> is_number(A) end},
     {"is_atom", fun(A) -> is_atom(A) end}, {"is_pid", fun(A) -> is_pid(A) end}, {"is_reference", fun(A) -> is_reference(A) end},
     {"is_port", fun(A) -> is_port(A) end}, {"is_binary", fun(A) -> is_binary(A) end}, {"is_bitstring", fun(A) -> is_bitstring(A) end},
     {"is_list", fun(A) -> is_list(A) end}, {"is_tuple", fun(A) -> is_tuple(A) end}, {"is_boolean", fun(A) -> is_boolean(A) end},
     {"is_map", fun(A) -> is_map(A) end}, {"is_function", fun(A) -> is_function(A) end}, {"is_function/2", fun(A) -> is_function(A, 1) end},
     {"kept in y", fun(A) -> K = is_atom(A), id(A), K end}].

comparisons() ->
    [{"=:=", fun(A, B) -> A =:= B end}, {"=/=", fun(A, B) -> A =/= B end}, {"==", fun(A, B) -> A == B end}, {"/=", fun(A, B) -> A /= B end},
     {"<", fun(A, B) -> A < B end}, {">", fun(A, B) -> A > B end}, {"=<", fun(A, B) -> A =< B end}, {">=", fun(A, B) -> A >= B end},
     {"< from y to y", fun(A, B) -> id(x), K = A < B, id(x), K =:= (A < id(B)) end},
     {"== or >", fun(A, B) -> (A == B) or (A > B) end}].

constants() ->
    [{"> 0", fun(A) -> A > 0 end}, {"0 >", fun(A) -> 0 > A end}, {">= 1.0", fun(A) -> A >= 1.0 end}, {"=< big", fun(A) -> A =< 18446744073709551616 end},
     {"== 1", fun(A) -> A == 1 end}, {"/= 1", fun(A) -> A /= 1 end}, {"=:= 1.0", fun(A) -> A =:= 1.0 end}, {"=/= a", fun(A) -> A =/= a end},
     {"== []", fun(A) -> A == [] end}, {"== {1}", fun(A) -> A == {1} end}, {"< #{}", fun(A) -> A < #{} end}, {"a <", fun(A) -> a < A end}].

operators() ->
    [{"and", fun(A, B) -> A and B end}, {"or", fun(A, B) -> A or B end}, {"xor", fun(A, B) -> A xor B end},
     {"and true", fun(A, _) -> A and true end}, {"false or", fun(_, B) -> false or B end},
     {"and to y", fun(A, B) -> K = A and B, id(x), K end}].

guards() ->
    [{"and in guard", fun(A, B) when A and (B > 0) -> true; (_, _) -> false end}, {"or in guard", fun(A, B) when A or (B == 1) -> true; (_, _) -> false end},
     {"not in guard", fun(A, B) when not A, B =/= [] -> true; (_, _) -> false end}, {"value in guard", fun(A, B) when (B < a) == A -> true; (_, _) -> false end},
     {"xor in guard", fun(A, B) when A xor is_list(B) -> true; (_, _) -> false end}].

not_kept(A) ->
    K = not A,
    id(x),
    K.

apart(Test, A) -> try Test(A) catch C:R -> {C, R} end.
apart(Test, A, B) -> try Test(A, B) catch C:R -> {C, R} end.

mark(true) -> $t;
mark(false) -> $.;
mark({error, badarg}) -> $e;
mark({error, {badarg, _}}) -> $b;
mark(_) -> $?.

id(X) -> X.
