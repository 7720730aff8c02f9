-module(ets_pieces).
-export([main/1]).

%% An ordered table whose pieces split and join all the time, under several writers, against a plain one; what fixed tables keep;
%% continuations that are for a table and not for a name; an heir that stays one.
main(_) ->
    erts_debug:set_internal_state(available_internal_state, true),
    [pieces(Switch) || Switch <- [ets_force_split, ets_debug_random_split_join]],
    kept(),
    continuation(),
    heir(),
    options(),
    replace(),
    ends().

pieces(Switch) ->
    T = ets:new(t, [ordered_set, public, {write_concurrency, true}]),
    P = ets:new(p, [ordered_set, public]),
    erts_debug:set_internal_state(Switch, {T, true}),
    Workers = [spawn_monitor(fun() -> work(T, P, N) end) || N <- lists:seq(0, 7)],
    [receive {'DOWN', M, _, _, R} -> normal = R end || {_, M} <- Workers],
    All = ets:tab2list(P),
    Keys = [K || {K, _} <- All],
    io:format("~w ~w ~w ~w~n", [Switch, length(All), ets:info(T, size), erlang:phash2(All)]),
    true = All =:= ets:tab2list(T),
    true = Keys =:= forward(T, ets:first(T)),
    true = lists:reverse(Keys) =:= backward(T, ets:last(T)),
    Middle = [{{{k, '$1', 3}, '_'}, [{'>', '$1', 100}], ['$1']}],
    true = ets:select(T, Middle) =:= ets:select(P, Middle),
    true = ets:select_reverse(T, Middle) =:= ets:select_reverse(P, Middle),
    Low = [{{{k, '$1', '_'}, '_'}, [{'<', '$1', 150}], [true]}],
    io:format("~w ~w~n", [ets:select_delete(T, Low), ets:select_delete(P, Low)]),
    true = ets:tab2list(T) =:= ets:tab2list(P),
    true = ets:insert_new(T, [{{new, N}, N} || N <- lists:seq(1, 100)]),
    false = ets:insert_new(T, [{{fresh, N}, N} || N <- lists:seq(1, 100)] ++ [{{new, 50}, 0}]),
    io:format("~w ~p~n", [ets:info(T, size), ets:lookup(T, {new, 50})]),
    ets:delete_all_objects(T),
    io:format("~w ~w~n", [ets:info(T, size), ets:first(T)]).

work(T, P, N) ->
    [begin
         ets:insert(X, {{k, K, N}, K}),
         K rem 3 =:= 0 andalso ets:delete(X, {k, K - 1, N}),
         K rem 5 =:= 0 andalso ets:update_counter(X, {k, K, N}, 1)
     end || K <- lists:seq(1, 400), X <- [T, P]].

forward(_, '$end_of_table') -> [];
forward(T, K) -> [K | forward(T, ets:next(T, K))].

backward(_, '$end_of_table') -> [];
backward(T, K) -> [K | backward(T, ets:prev(T, K))].

kept() ->
    [begin
         T = ets:new(t, [Type, public]),
         Bin = binary:copy(<<"x">>, 100),
         ets:insert(T, [{N, Bin} || N <- lists:seq(1, 1000)]),
         ets:safe_fixtable(T, true),
         [ets:delete(T, N) || N <- lists:seq(1, 500)],
         A = {ets:info(T, size), element(7, ets:info(T, stats)), length(ets:info(T, binary))},
         ets:delete_all_objects(T),
         B = {ets:info(T, size), element(7, ets:info(T, stats)), length(ets:info(T, binary))},
         ets:safe_fixtable(T, false),
         C = {ets:info(T, size), element(7, ets:info(T, stats)), length(ets:info(T, binary))},
         io:format("~w ~w ~w ~w~n", [Type, A, B, C]),
         byte_size(Bin)
     end || Type <- [set, bag, duplicate_bag]].

continuation() ->
    T = ets:new(named, [named_table]),
    ets:insert(T, [{N, x} || N <- lists:seq(1, 10)]),
    {[_], C} = ets:select(T, [{{'$1', x}, [], ['$1']}], 1),
    named = ets:rename(T, other) =:= other andalso named,
    {[_], _} = ets:select(C),
    ets:delete(other),
    ets:new(named, [named_table]),
    io:format("~p~n", [try ets:select(C) catch error:E -> E end]),
    ets:delete(named).

heir() ->
    Self = self(),
    {_, M} = spawn_monitor(fun() -> ets:new(left, [named_table, {heir, Self, gift}]) end),
    receive {'DOWN', M, _, _, _} -> ok end,
    receive {'ETS-TRANSFER', left, _, Gift} -> io:format("~p ~p ~p~n", [Gift, ets:info(left, owner) =:= Self, ets:info(left, heir) =:= Self]) end,
    {Next, M2} = spawn_monitor(fun() -> receive stop -> ok end end),
    ets:give_away(left, Next, again),
    Next ! stop,
    receive {'DOWN', M2, _, _, _} -> ok end,
    receive {'ETS-TRANSFER', left, Next, Gift2} -> io:format("~p~n", [Gift2]) end,
    ets:delete(left).

options() ->
    [io:format("~p ~p~n", [O, try T = ets:new(t, O), [{I, ets:info(T, I)} || I <- [write_concurrency, decentralized_counters]]
                              catch error:E -> E end])
     || O <- [[public, {write_concurrency, W} | R]
              || W <- [true, false, auto, {debug_hash_fixed_number_of_locks, 1000}, {debug_hash_fixed_number_of_locks, 0}, foo, {x, 1}],
                 R <- [[], [ordered_set], [private], [{decentralized_counters, true}], [private, ordered_set], [bag, {write_concurrency, true}]]]].

%% Keys that are made anew from constants are kept.
replace() ->
    T = ets:new(t, []),
    [begin
         ets:insert(T, {K, 1, 2}),
         io:format("~p ~p~n", [K, try ets:select_replace(T, [{{K, '$1', '$2'}, [], [{{E, '$2', '$1'}}]}]) catch error:R -> R end])
     end || {K, E} <- [{{{a, a}}, {{{{a, a}}}}}, {[{a, a}], [{{a, a}}]}, {[a, [b]], [a, [b]]}, {{a}, {{b}}}, {[a, b], [a]}, {{a, b}, {{a}}}]],
    io:format("~p~n", [lists:sort(ets:tab2list(T))]).

ends() ->
    [begin
         T = ets:new(t, [Type]),
         ets:insert(T, [{'$end_of_table', x}, {1, x}]),
         io:format("~p ~p~n", [Type, [try ets:F(T, '$end_of_table'), ok catch error:E -> E end
                                      || F <- [next, prev, next_lookup, prev_lookup]]])
     end || Type <- [set, ordered_set]].
