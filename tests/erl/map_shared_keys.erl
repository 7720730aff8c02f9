%% Maps that a place in the code makes share the tuple of their keys, which is a literal of the module: also when that goes.
-module(map_shared_keys).
-export([main/1, one/1, many/2]).

main(_) ->
    A = one(1), B = one({2}),
    io:format("~p ~p~n", [A, B]),
    io:format("~p~n", [erts_debug:same(erts_internal:map_to_tuple_keys(A), erts_internal:map_to_tuple_keys(B))]),
    io:format("~p~n", [lists:sort(maps:to_list(many(x, "y")))]),
    io:format("~p~n", [odd(1.5)]),
    io:format("~p~n", [[A =:= maps:from_list([{int, 1}, {type, decimal}, {exp, 0}]), A#{exp := 1}, A#{new => 2}, maps:remove(int, A)]]),
    io:format("~p~n", [erlang:phash2(many(1, 2)) =:= erlang:phash2(maps:from_list(maps:to_list(many(1, 2))))]),
    %% Many: collections in between, with all that is live.
    L = grow(5000, []),
    io:format("~p~n", [lists:sum([maps:get(int, M) + length(maps:get(rest, M)) || M <- L])]),
    %% Their module goes.
    Forms = [{attribute, 1, module, map_shared_gone}, {attribute, 1, export, [{f, 1}]},
             {function, 2, f, 1, [{clause, 2, [{var, 2, 'X'}], [], [{map, 2, [{map_field_assoc, 2, K, {var, 2, 'X'}} ||
                K <- [{atom, 2, a}, {tuple, 2, [{integer, 2, 1}, {string, 2, "key"}]}, {integer, 2, 1 bsl 70}]]}]}]}],
    {ok, M1, Beam} = compile:forms(Forms),
    {module, M1} = code:load_binary(M1, "gone", Beam),
    Gone = [M1:f(N) || N <- lists:seq(1, 10)],
    Me = self(),
    Keeper = spawn_link(fun() -> Mine = M1:f(keeper), Me ! ready, receive go -> Me ! {mine, Mine} end end),
    receive ready -> ok end,
    ets:new(map_shared, [named_table, public]),
    ets:insert(map_shared, {key, M1:f(table)}),
    persistent_term:put(map_shared, M1:f(term)),
    Me ! {sent, M1:f(sent)},
    code:delete(M1), code:purge(M1),
    garbage_collect(),
    Keeper ! go,
    io:format("~p~n~p~n", [hd(Gone), length(lists:usort(Gone))]),
    receive {mine, Mine} -> io:format("~p~n", [Mine]) end,
    receive {sent, Sent} -> io:format("~p~n", [Sent]) end,
    io:format("~p~n~p~n", [ets:lookup(map_shared, key), persistent_term:get(map_shared)]),
    io:format("~p~n", [maps:get({1, "key"}, lists:last(Gone))]).

one(Int) -> #{type => decimal, int => Int, exp => 0}.

many(X, Y) ->
    #{a => X, b => Y, c => [X | Y], 1 => X, 2 => Y, "string" => {X, Y}, <<"binary">> => X, {t, 1} => Y, 1.5 => X, [] => Y,
      k1 => 1, k2 => 2, k3 => 3, k4 => 4, k5 => 5, k6 => 6, k7 => 7, k8 => 8, k9 => 9, k10 => X, k11 => Y, k12 => 12, k13 => 13,
      (1 bsl 100) => X, -1 => Y, #{in => side} => X, k14 => 14, k15 => 15, k16 => 16, k17 => 17, k18 => 18, k19 => 19}.

odd(X) -> #{0.0 => X, -0.0 => [X], 0 => {X}}.

grow(0, L) -> L;
grow(N, L) ->
    Rest = lists:duplicate(N rem 7, N),
    grow(N - 1, [#{int => N, rest => Rest, text => "t", tuple => {N, Rest}, self => self()} | L]).
