%% Map patterns whose keys are variables, or constants that are no atoms and no small integers; called often, so that they are compiled.
-module(map_any_keys).
-export([main/1]).

g(M, K) -> case M of #{K := V} -> {ok, V}; #{} -> no end.

g2(M, K, L) -> case M of #{K := V, L := W, a := U} -> [V, W, U]; #{K := V} -> {one, V}; _ -> none end.

h(M, K) -> case M of #{K := _} -> yes; _ -> no end.

lit(#{<<"name">> := N, {x, 1} := X}) -> {N, X, 1.5}; lit(#{<<"name">> := N}) -> N; lit(#{1.5 := F}) -> F; lit(#{123456789012345678901234567890 := B}) -> {big, B}; lit(_) -> none.

f(M, K, A, F) -> #{K := V} = M, {V, A, F * 2.0, float(V), K}.

s([], _, A) -> A; s([K | T], M, A) -> case M of #{K := V} -> s(T, M, A + V); _ -> s(T, M, A - 1) end.

main(_) ->
    Result = work(),
    [Result = work() || _ <- lists:seq(1, 100)],
    io:format("~p~n", [Result]).

work() ->
    Big = maps:from_list([{{k, I, "abc"}, I} || I <- lists:seq(1, 1000)]),
    M = #{a => 1, <<"name">> => <<"n">>, {x, 1} => x, 1.5 => f, 123456789012345678901234567890 => b, [1, 2] => l},
    Keys = [a, b, <<"name">>, {x, 1}, {x, 1.0}, 1.5, [1, 2], 123456789012345678901234567890, #{}],
    Looked = [[g(M, K), h(M, K), g2(M, K, <<"name">>), g2(M, {x, 1}, K)] || K <- Keys],
    Constant = [lit(X) || X <- [M, maps:remove({x, 1}, M), #{1.5 => f}, #{123456789012345678901234567890 => c}, #{}, 1, Big]],
    Failing = [try f(X, Y, z, 1.25) catch error:E -> {error, size_of(E)} end || {X, Y} <- [{#{{q} => 3}, {q}}, {#{}, {q}}, {Big, {k, 7, "abc"}}, {Big, {k, 7, "abd"}}]],
    Sums = [s([{k, I, "abc"} || I <- lists:seq(0, 2000)], Big, 0), s(lists:seq(1, 50), maps:from_list([{I, I * I} || I <- lists:seq(1, 20)]), 0)],
    Guards = [{K, catch_error(fun() -> get_of(X, K) end), key_of(X, K), both(X, K)} || X <- [M, Big, [], {x}, 1], K <- [a, {x, 1}, {k, 3, "abc"}, <<"name">>]],
    {Looked, Constant, Failing, Sums, Guards}.

catch_error(F) -> try F() catch error:{badmap, _} -> badmap; error:{badkey, K} -> {badkey, K} end.

get_of(X, K) -> map_get(K, X).

key_of(X, K) when is_map_key(K, X) -> true;
key_of(X, K) when is_map(X) -> is_map_key(K, X);
key_of(_, _) -> no_map.

both(X, K) when map_get(K, X) =:= 1 -> one;
both(X, K) when map_get(K, X) > 1 -> more;
both(_, _) -> none.

%% A map that has no such key is printed as its size.
size_of({badmatch, Map}) when is_map(Map) -> {badmatch, map_size(Map)}.
