%% Lock counting as OTP's lcnt sees it. An emulator that does not count locks passes over it.
-module(own_lcnt).
-export([main/1]).

main(_) ->
    [check(Name, F) || {Name, F} <- [{collect, fun collect/0}, {mask, fun mask/0}, {copy_save, fun copy_save/0},
                                     {clear, fun clear/0}, {lcnt, fun lcnt/0}, {waits, fun waits/0}]].

check(Name, F) ->
    Result = case erlang:system_info(lock_counting) of
        true -> try F() catch C:R:S -> {C, R, S} end;
        false -> true
    end,
    io:format("~p ~p~n", [Name, Result]).

collect() ->
    [{duration, {S, Ns}}, {locks, Locks}] = erts_debug:lcnt_collect(),
    true = is_integer(S) andalso Ns < 1_000_000_000,
    Schedulers = erlang:system_info(schedulers),
    Schedulers = length([x || {db_hash_slot, Id, rw_mutex, _} <- Locks, Id > 0, Id =< Schedulers]),
    lists:all(fun({Name, Id, Type, [{{undefined, 0}, {Tries, Colls, {WaitS, WaitNs, Waits}}, Histogram}]}) ->
        is_atom(Name) andalso is_integer(Id) andalso lists:member(Type, [mutex, rw_mutex]) andalso Tries >= Colls
            andalso WaitS >= 0 andalso WaitNs < 1_000_000_000 andalso tuple_size(Histogram) =:= 30
            andalso lists:sum(tuple_to_list(Histogram)) =:= Waits
    end, Locks).

mask() ->
    All = erts_debug:lcnt_control(mask),
    [scheduler, process, io, generic, distribution, debug, db, allocator] = All,
    ok = erts_debug:lcnt_control(mask, [io, db]),
    [io, db] = erts_debug:lcnt_control(mask),
    [_, {locks, Locks}] = erts_debug:lcnt_collect(),
    true = lists:keymember(port_lock, 1, Locks),
    false = lists:keymember(reg_tab, 1, Locks),
    {error, badarg, nonsense} = erts_debug:lcnt_control(mask, [db, nonsense]),
    [io, db] = erts_debug:lcnt_control(mask),
    ok = erts_debug:lcnt_control(mask, []),
    [_, {locks, []}] = erts_debug:lcnt_collect(),
    ok = erts_debug:lcnt_control(mask, All),
    [{'EXIT', {badarg, _}} = (catch apply(erts_debug, lcnt_control, A)) || A <- [[x], [mask, x], [copy_save, x], [x, true]]],
    All =:= erts_debug:lcnt_control(mask).

copy_save() ->
    false = erts_debug:lcnt_control(copy_save),
    ok = erts_debug:lcnt_control(copy_save, true),
    true = erts_debug:lcnt_control(copy_save),
    ok = erts_debug:lcnt_control(copy_save, false),
    false =:= erts_debug:lcnt_control(copy_save).

clear() ->
    timer:sleep(30),
    ok = erts_debug:lcnt_clear(),
    [{duration, {S, Ns}}, _] = erts_debug:lcnt_collect(),
    timer:sleep(30),
    [{duration, {S2, Ns2}}, _] = erts_debug:lcnt_collect(),
    S2 * 1_000_000_000 + Ns2 - S * 1_000_000_000 - Ns >= 30_000_000.

%% The tool itself; what it prints is times.
lcnt() ->
    {ok, Server} = lcnt:start(),
    group_leader(spawn_link(fun sink/0), Server),
    hello = lcnt:apply(fun() -> contend(4, 200), hello end),
    [ok, ok, ok, ok, ok] = [lcnt:collect(), lcnt:conflicts([{thresholds, []}, {max_locks, none}]), lcnt:locations(),
                            lcnt:inspect(db_hash_slot, [{combine, false}, {thresholds, []}]), lcnt:information()],
    true = lcnt:rt_opt({process_locks, false}),
    false = lists:member(process, lcnt:rt_mask()),
    false = lcnt:rt_opt({process_locks, true}),
    true = lists:member(process, lcnt:rt_mask()),
    ok = lcnt:clear(),
    ok = lcnt:stop(),
    true.

sink() -> receive {io_request, From, Ref, _} -> From ! {io_reply, Ref, ok}, sink() end.

%% What was counted since the last clearing is what lcnt sees, and heddle_stats sees at least that.
waits() ->
    erts_debug:lcnt_clear(),
    contend(8, 500),
    [_, {locks, Locks}] = erts_debug:lcnt_collect(),
    Seen = lists:sum([C || {_, _, _, [{_, {_, C, _}, _}]} <- Locks]),
    %% Each operation took the lock of its place once at least, and what did not wait is no collision.
    {Tries, Colls} = lists:foldl(fun({db_hash_slot, _, _, [{_, {Tr, Co, _}, _}]}, {A, B}) -> {A + Tr, B + Co}; (_, Sum) -> Sum end, {0, 0}, Locks),
    true = Tries >= 8 * 500 andalso Colls < Tries,
    M = heddle_stats,
    Seen =< lists:sum([W || #{waits := W} <- M:locks()]).

contend(Processes, N) ->
    T = ets:new(t, [public]),
    Workers = [spawn_monitor(fun() -> [ets:update_counter(T, x, 1, {x, 0}) || _ <- lists:seq(1, N)] end) || _ <- lists:seq(1, Processes)],
    [receive {'DOWN', M, _, _, normal} -> ok end || {_, M} <- Workers],
    [{x, Count}] = ets:lookup(T, x),
    Count = Processes * N,
    ets:delete(T).
