%% In a fixed table a traversal goes on from a key that was deleted, and from no other that is not there. Also small faults
%% that sequences of operations found.
-module(ets_next_when_fixed).
-export([main/1]).

main(_) ->
    [io:format("~p ~p~n", [Type, table(Type)]) || Type <- [set, bag, duplicate_bag, ordered_set]],
    %% Zeros that the compiler does not see.
    io:format("~p~n", [[{+ Zero, - Zero} || Zero <- binary_to_term(term_to_binary([0.0, -0.0, 0, 2.5]))]]),
    io:format("~p~n", [[apply(erlang, '+', [Zero]) || Zero <- binary_to_term(term_to_binary([0.0, -0.0, 0, 2.5]))]]),
    io:format("~p~n", [[catch_is_record(T, Tag, N) || {T, Tag, N} <- [{255, utf8, 1 bsl 70}, {{utf8}, utf8, 1}, {a, b, -1}, {a, 1, 2}, {{a}, a, a}]]]),
    io:format("~p~n", [re:run("xab", "ab", [{capture, [1], binary}, {capture, first}])]),
    io:format("~p~n", [[ets:test_ms({1}, Spec) || Spec <- [a, [], [a | b], [{a} | b], [{1, 2, 3} | x]]]]).

table(Type) ->
    T = ets:new(t, [Type]),
    true = ets:insert(T, [{K} || K <- lists:seq(1, 50)]),
    Never = [try_next(T, F, K) || F <- [next, prev], K <- [100, a]],
    true = ets:safe_fixtable(T, true),
    Fixed = [try_next(T, F, K) || F <- [next, prev], K <- [100, a]],
    Deleted = [begin ets:delete(T, K), try_next(T, next, K) end || K <- lists:seq(1, 50, 7)],
    Twice = [begin ets:insert(T, {K}), ets:delete(T, K), try_next(T, next, K) end || K <- [1, 8]],
    true = ets:delete_all_objects(T),
    Cleared = [try_next(T, next, K) || K <- [1, 2, 50, 100]],
    true = ets:safe_fixtable(T, false),
    Freed = [try_next(T, next, K) || K <- [1, 50]],
    {Never, Fixed, Deleted, Twice, Cleared, Freed}.

%% Hash tables have an order of their own.
try_next(T, F, K) ->
    try ets:F(T, K) of _ -> a_key_or_the_end catch error:badarg -> badarg end.

catch_is_record(T, Tag, N) ->
    try erlang:is_record(T, Tag, N) catch error:badarg -> badarg end.
