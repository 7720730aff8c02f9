%% Natives that OTP's suites use to be on a certain scheduler; positions past the end of a file, as dets reads them.
-module(conf_dirty).
-export([main/1]).

main(_) ->
    erts_debug:set_internal_state(available_internal_state, true),
    io:format("~p~n", [erts_debug:set_internal_state(ets_force_trap, true)]),
    io:format("~p~n", [erts_debug:set_internal_state(available_internal_state, false)]),
    [io:format("~p~n", [catch_it(F)])
     || F <- [fun() -> erts_debug:dirty_cpu(scheduler, type) end,
              fun() -> erts_debug:dirty_io(scheduler, type) end,
              fun() -> [erts_debug:dirty(K, scheduler, type) || K <- [normal, dirty_cpu, dirty_io]] end,
              fun() -> erts_debug:dirty(bad, scheduler, type) end,
              fun() -> erts_debug:dirty_cpu(reschedule, 1000) end,
              fun() -> erts_debug:dirty_io(reschedule, 1001) end,
              fun() -> erts_debug:dirty_cpu(error, noproc) end,
              fun() -> erts_debug:dirty_cpu(error, {a, term}) end,
              fun() -> erts_debug:dirty_io(wait, 5) end,
              fun() -> erts_debug:dirty_io(wait, x) end,
              fun() -> lists:usort(erts_debug:dirty_cpu(copy, {a, "b", 1.5})) end,
              fun() -> erts_debug:dirty_cpu(scheduler, id) end]],
    killed(),
    files().

%% An exit signal that came while the process was on a dirty thread counts before what the process does next.
killed() ->
    Me = self(),
    {P, M} = spawn_monitor(fun() -> erts_debug:dirty_io(alive_waitexiting, Me) end),
    receive {alive, P} -> exit(P, enough) end,
    io:format("~p~n", [receive {'DOWN', M, process, P, Reason} -> Reason end]).

catch_it(F) ->
    try F() catch C:R:S -> {M, G, A, _} = hd(S), {C, R, M, G, A} end.

files() ->
    Name = "conf_dirty.data",
    ok = file:write_file(Name, <<0:64, 5:32, 16:32, 1, 2, 3, 4, 5>>),
    [begin
         {ok, Fd} = file:open(Name, Modes),
         io:format("~p~n", [[file:ipread_s32bu_p32bu(Fd, P, 100) || P <- [0, 8, 500]]]),
         io:format("~p~n", [[file:read(Fd, 0), file:pread(Fd, 0, 0), file:pread(Fd, 500, 0), file:pread(Fd, 16, 9)]]),
         file:close(Fd)
     end || Modes <- [[read, raw, binary], [read, binary]]],
    {ok, T} = dets:open_file(conf_dirty, [{file, Name ++ ".dets"}, {type, set}]),
    ok = dets:insert(T, [{I, I} || I <- lists:seq(1, 100)]),
    ok = dets:sync(T),
    io:format("~p~n", [[dets:lookup(T, K) || K <- [1, 50, none]]]),
    ok = dets:close(T),
    [file:delete(F) || F <- [Name, Name ++ ".dets"]].
