%% What a call of each of the natives costs that programs call most: bench/natives-cost runs it, and says what its lines mean.
%% Which they are: cprof, on the programs of bench/programs/real and some of bench/programs.
-module(natives_cost).
-export([main/1, exported/1]).

%% A loop of calls. What a call returns is an argument of the next turn, so no compiler leaves it out.
-define(LOOP(Call), fun(Count) -> (fun Turn(0, _) -> ok; Turn(N, _) -> Turn(N - 1, Call) end)(Count, 0) end).

%% Arguments: how long a figure is measured (microseconds), rounds, a pattern of names ("" for all).
main([Time, Rounds, Pattern]) ->
    logger:set_primary_config(level, none),
    Empty = {empty, fun() -> X = id(x), ?LOOP(X) end},
    Rows = [Row || {Name, _} = Row <- rows(), string:find(atom_to_list(Name), Pattern) =/= nomatch],
    [run(Name, Make, list_to_integer(Time), list_to_integer(Rounds)) || {Name, Make} <- [Empty | Rows]],
    halt().

run(Name, Make, Time, Rounds) ->
    Self = self(),
    {_, Ref} = spawn_monitor(fun() -> Self ! {figure, measure(Make(), Time, Rounds)} end),
    receive
        {'DOWN', Ref, process, _, normal} -> receive {figure, Ns} -> io:format("~s ~w~n", [Name, Ns]) end;
        {'DOWN', Ref, process, _, Reason} -> io:format("~s failed ~0p~n", [Name, Reason])
    end,
    erlang:garbage_collect().

%% The quickest round, in picoseconds a turn of the loop.
measure(Loop, Time, Rounds) ->
    %% Both emulators have machine code for the loop then.
    Loop(30000),
    timer:sleep(30),
    Count = count(Loop, Time, 1000),
    lists:min([round_of(Loop, Count) || _ <- lists:seq(1, Rounds)]).

count(Loop, Time, Count) ->
    case round_of(Loop, Count) * Count div 1000000 of
        Took when Took >= Time div 2; Count > 100000000 -> Count;
        _ -> count(Loop, Time, 2 * Count)
    end.

round_of(Loop, Count) ->
    Start = erlang:monotonic_time(nanosecond),
    Loop(Count),
    (erlang:monotonic_time(nanosecond) - Start) * 1000 div Count.

id(Term) -> binary_to_term(term_to_binary(Term)).

exported(N) -> N.

%% Names, and what makes the loops. Arguments come from outside the loop, so that the compiler knows nothing of them.
rows() ->
    [{'lists:reverse/2', fun() -> L = id([1, 2, 3, 4, 5, 6, 7, 8]), ?LOOP(lists:reverse(L, [])) end},
     {'lists:member/2', fun() -> L = id([a, b, c, d, e, f, g, h]), ?LOOP(lists:member(f, L)) end},
     {'lists:keyfind/3', fun() -> L = id([{K, 1} || K <- [a, b, c, d, e, f]]), ?LOOP(lists:keyfind(e, 1, L)) end},
     {'lists:keymember/3', fun() -> L = id([{K, 1} || K <- [a, b, c, d, e, f]]), ?LOOP(lists:keymember(e, 1, L)) end},
     {'erlang:++/2', fun() -> L = id([1, 2, 3, 4, 5, 6]), ?LOOP(L ++ [7]) end},
     {'erlang:--/2', fun() -> L = id([1, 2, 3, 4, 5, 6]), ?LOOP(L -- [3, 5]) end},
     {'erlang:length/1', fun() -> L = id([1, 2, 3, 4, 5, 6, 7, 8]), ?LOOP(length(L)) end},
     {'erlang:element/2', fun() -> T = id({a, b, c, d}), I = id(3), ?LOOP(element(I, T)) end},
     {'erlang:setelement/3', fun() -> T = id({a, b, c, d}), I = id(3), ?LOOP(setelement(I, T, x)) end},
     {'erlang:list_to_tuple/1', fun() -> L = id([1, 2, 3, 4]), ?LOOP(list_to_tuple(L)) end},
     {'erlang:tuple_to_list/1', fun() -> T = id({1, 2, 3, 4}), ?LOOP(tuple_to_list(T)) end},
     {'erlang:list_to_atom/1', fun() -> L = id("some_atom"), ?LOOP(list_to_atom(L)) end},
     {'erlang:atom_to_list/1', fun() -> A = id(some_atom), ?LOOP(atom_to_list(A)) end},
     {'erlang:atom_to_binary/1', fun() -> A = id(some_atom), ?LOOP(atom_to_binary(A)) end},
     {'erlang:binary_to_existing_atom/1', fun() -> B = id(<<"some_atom">>), ?LOOP(binary_to_existing_atom(B)) end},
     {'erlang:integer_to_binary/1', fun() -> I = id(471108), ?LOOP(integer_to_binary(I)) end},
     {'erlang:integer_to_list/1', fun() -> I = id(471108), ?LOOP(integer_to_list(I)) end},
     {'erlang:integer_to_list/2', fun() -> I = id(471108), ?LOOP(integer_to_list(I, 16)) end},
     {'erlang:binary_to_integer/1', fun() -> B = id(<<"471108">>), ?LOOP(binary_to_integer(B)) end},
     {'erlang:list_to_integer/1', fun() -> L = id("471108"), ?LOOP(list_to_integer(L)) end},
     {'erlang:float_to_binary/2', fun() -> F = id(471.25), ?LOOP(float_to_binary(F, [short])) end},
     {'erlang:float_to_list/2', fun() -> F = id(471.25), ?LOOP(float_to_list(F, [{decimals, 3}])) end},
     {'erlang:binary_to_float/1', fun() -> B = id(<<"471.25">>), ?LOOP(binary_to_float(B)) end},
     {'erlang:iolist_size/1', fun() -> L = id([<<"some">>, "text", [<<"and">>, $m], "ore"]), ?LOOP(iolist_size(L)) end},
     {'erlang:iolist_to_binary/1', fun() -> L = id([<<"some">>, "text", [<<"and">>, $m], "ore"]), ?LOOP(iolist_to_binary(L)) end},
     {'erlang:iolist_to_iovec/1', fun() -> L = id([<<"some">>, "text", [<<"and">>, $m], "ore"]), ?LOOP(erlang:iolist_to_iovec(L)) end},
     {'erlang:list_to_binary/1', fun() -> L = id("some text"), ?LOOP(list_to_binary(L)) end},
     {'erlang:binary_to_list/1', fun() -> B = id(<<"some text">>), ?LOOP(binary_to_list(B)) end},
     {'erlang:split_binary/2', fun() -> B = id(<<"some text">>), ?LOOP(split_binary(B, 4)) end},
     {'erlang:term_to_binary/1', fun() -> T = id({request, [1, 2, 3], <<"body">>, #{a => 1}}), ?LOOP(term_to_binary(T)) end},
     {'erlang:binary_to_term/1', fun() -> B = term_to_binary({request, [1, 2, 3], <<"body">>, #{a => 1}}), ?LOOP(binary_to_term(B)) end},
     {'erlang:phash2/1', fun() -> T = id({request, [1, 2, 3], <<"body">>}), ?LOOP(erlang:phash2(T)) end},
     {'erlang:crc32/1', fun() -> B = id(<<"some text to be summed">>), ?LOOP(erlang:crc32(B)) end},
     {'erlang:md5/1', fun() -> B = id(<<"some text to be summed">>), ?LOOP(erlang:md5(B)) end},
     {'binary:part/3', fun() -> B = id(<<"some text">>), ?LOOP(binary:part(B, 2, 5)) end},
     {'binary:split/2', fun() -> B = id(<<"key = some value">>), ?LOOP(binary:split(B, <<"=">>)) end},
     {'binary:split/3', fun() -> B = id(<<"a,bcd,ef,g">>), ?LOOP(binary:split(B, <<",">>, [global])) end},
     {'binary:match/2', fun() -> B = id(<<"key = some value">>), ?LOOP(binary:match(B, <<"=">>)) end},
     {'binary:matches/2', fun() -> B = id(<<"a,bcd,ef,g">>), ?LOOP(binary:matches(B, <<",">>)) end},
     {'binary:copy/2', fun() -> B = id(<<"ab">>), ?LOOP(binary:copy(B, 10)) end},
     {'binary:compile_pattern/1', fun() -> P = id([<<"a">>, <<"bc">>]), ?LOOP(binary:compile_pattern(P)) end},
     {'unicode:characters_to_binary/1', fun() -> L = id("some téxt"), ?LOOP(unicode:characters_to_binary(L)) end},
     {'unicode:characters_to_list/1', fun() -> B = id(<<"some téxt"/utf8>>), ?LOOP(unicode:characters_to_list(B)) end},
     {'re:run/3', fun() -> {ok, P} = re:compile("[0-9]+"), B = id(<<"took 18 ms">>), ?LOOP(re:run(B, P, [{capture, first, binary}])) end},
     {'maps:get/2', fun() -> M = id(#{a => 1, b => 2, c => 3}), K = id(b), ?LOOP(maps:get(K, M)) end},
     {'maps:get/2 of 1000', fun() -> M = id(maps:from_list([{N, N} || N <- lists:seq(1, 1000)])), K = id(471), ?LOOP(maps:get(K, M)) end},
     {'maps:put/3', fun() -> M = id(#{a => 1, b => 2, c => 3}), K = id(d), ?LOOP(maps:put(K, 1, M)) end},
     {'maps:put/3 of 1000', fun() -> M = id(maps:from_list([{N, N} || N <- lists:seq(1, 1000)])), K = id(4711), ?LOOP(maps:put(K, 1, M)) end},
     {'maps:update/3 of 1000', fun() -> M = id(maps:from_list([{N, N} || N <- lists:seq(1, 1000)])), K = id(471), ?LOOP(maps:update(K, 1, M)) end},
     {'maps:remove/2', fun() -> M = id(#{a => 1, b => 2, c => 3}), K = id(b), ?LOOP(maps:remove(K, M)) end},
     {'maps:merge/2', fun() -> M = id(#{a => 1, b => 2}), O = id(#{b => 3, c => 4}), ?LOOP(maps:merge(M, O)) end},
     {'maps:from_list/1', fun() -> L = id([{a, 1}, {b, 2}, {c, 3}]), ?LOOP(maps:from_list(L)) end},
     {'maps:keys/1', fun() -> M = id(#{a => 1, b => 2, c => 3}), ?LOOP(maps:keys(M)) end},
     {'maps:to_list/1', fun() -> M = id(#{a => 1, b => 2, c => 3}), ?LOOP(maps:to_list(M)) end},
     {'ets:lookup/2', fun() -> T = table(set), ?LOOP(ets:lookup(T, 471)) end},
     {'ets:lookup/2 ordered_set', fun() -> T = table(ordered_set), ?LOOP(ets:lookup(T, 471)) end},
     {'ets:lookup_element/3', fun() -> T = table(set), ?LOOP(ets:lookup_element(T, 471, 2)) end},
     {'ets:insert/2', fun() -> T = table(set), ?LOOP(ets:insert(T, {N rem 1000, b})) end},
     {'ets:insert/2 ordered_set', fun() -> T = table(ordered_set), ?LOOP(ets:insert(T, {N rem 1000, b})) end},
     {'ets:update_counter/3', fun() -> T = counters(), ?LOOP(ets:update_counter(T, 471, 1)) end},
     {'ets:delete/2', fun() -> T = table(set), ?LOOP(ets:delete(T, 4711)) end},
     {'ets:member/2', fun() -> T = table(set), ?LOOP(ets:member(T, 471)) end},
     {'ets:next/2', fun() -> T = table(set), ?LOOP(ets:next(T, 471)) end},
     {'ets:match_object/2', fun() -> T = table(set), ?LOOP(ets:match_object(T, {471, '_'})) end},
     {'ets:select/2', fun() -> T = table(set), ?LOOP(ets:select(T, [{{471, '$1'}, [], ['$1']}])) end},
     {'persistent_term:get/1', fun() -> persistent_term:put(?MODULE, 1), ?LOOP(persistent_term:get(?MODULE)) end},
     {'erlang:throw/1', fun() -> T = id(thrown), ?LOOP(try throw(T) catch throw:X -> X end) end},
     {'erlang:error/1', fun() -> T = id(wrong), ?LOOP(try error(T) catch error:X -> X end) end},
     {'erlang:raise/3', fun() -> T = id(wrong), ?LOOP(try erlang:raise(error, T, []) catch error:X -> X end) end},
     {'erlang:put/2', fun() -> ?LOOP(put(key, N)) end},
     {'erlang:get/1', fun() -> put(key, 1), K = id(key), ?LOOP(get(K)) end},
     {'erlang:send/2', fun() -> ?LOOP(begin self() ! N, receive M -> M end end) end},
     {'erlang:monitor/2 and demonitor/2', fun() -> P = whereis(init), ?LOOP(demonitor(monitor(process, P), [flush])) end},
     {'erlang:link/1 and unlink/1', fun() -> P = whereis(code_server), ?LOOP(begin link(P), unlink(P) end) end},
     {'erlang:spawn/1', fun() -> F = fun() -> ok end, ?LOOP(spawn(F)) end},
     {'erlang:make_ref/0', fun() -> ?LOOP(make_ref()) end},
     {'erlang:unique_integer/0', fun() -> ?LOOP(erlang:unique_integer()) end},
     {'erlang:unique_integer/1', fun() -> O = id([positive, monotonic]), ?LOOP(erlang:unique_integer(O)) end},
     {'erlang:monotonic_time/0', fun() -> ?LOOP(erlang:monotonic_time()) end},
     {'erlang:monotonic_time/1', fun() -> U = id(millisecond), ?LOOP(erlang:monotonic_time(U)) end},
     {'erlang:system_time/0', fun() -> ?LOOP(erlang:system_time()) end},
     {'os:timestamp/0', fun() -> ?LOOP(os:timestamp()) end},
     {'erlang:system_info/1', fun() -> I = id(schedulers), ?LOOP(erlang:system_info(I)) end},
     {'erlang:process_info/2', fun() -> P = self(), I = id(message_queue_len), ?LOOP(erlang:process_info(P, I)) end},
     {'erlang:process_flag/2', fun() -> ?LOOP(process_flag(trap_exit, true)) end},
     {'erlang:is_process_alive/1', fun() -> P = whereis(init), ?LOOP(is_process_alive(P)) end},
     {'erlang:whereis/1', fun() -> A = id(init), ?LOOP(whereis(A)) end},
     {'erlang:group_leader/0', fun() -> ?LOOP(group_leader()) end},
     {'erlang:apply/3', fun() -> M = id(?MODULE), F = id(exported), ?LOOP(apply(M, F, [N])) end},
     {'erlang:function_exported/3', fun() -> M = id(?MODULE), ?LOOP(erlang:function_exported(M, exported, 1)) end},
     {'erlang:</2 of tuples', fun() -> A = id({1, [2, 3], <<"abc">>}), B = id({1, [2, 3], <<"abd">>}), ?LOOP(A < B) end},
     {'math:sqrt/1', fun() -> A = id(2.5), ?LOOP(math:sqrt(A)) end}].

table(Type) ->
    Table = ets:new(table, [Type, public]),
    ets:insert(Table, [{N, a} || N <- lists:seq(1, 1000)]),
    Table.

counters() ->
    Table = table(set),
    ets:insert(Table, {471, 0}),
    Table.
