%% Which key a failed update names, limits of hibernate, the limit of outstanding requests, reductions that are left.
-module(conf_limits).
-export([main/1, woken/1]).

main(_) ->
    badkeys(),
    hibernation(),
    requests(),
    reductions(),
    rescheduled().

%% The smallest missing key in the order of keys (integers before floats), wherever it stands in the source.
badkeys() ->
    M = maps:from_list([{K, K} || K <- lists:seq(1, 3)]),
    Large = maps:from_list([{K, K} || K <- lists:seq(1, 100)]),
    [io:format("~p~n", [catch_it(F)])
     || F <- [fun() -> M#{z := 1, a := 2, 1 := 3} end,
              fun() -> M#{1.0 := 1, 9 := 2} end,
              fun() -> M#{{x} := 1, b := 2, "l" := 3} end,
              fun() -> Large#{z := 1, a := 2, 1 := 3} end,
              fun() -> Large#{500.0 := 1, 400.0 := 2, 600 := 3} end]].

hibernation() ->
    [io:format("~p~n", [catch_it(F)])
     || F <- [fun() -> erlang:hibernate(?MODULE, woken, lists:duplicate(1025, a)) end,
              fun() -> erlang:hibernate(?MODULE, woken, [a | b]) end,
              fun() -> erlang:hibernate(?MODULE, 17, []) end,
              fun() -> erlang:hibernate(17, woken, []) end,
              fun() -> erlang:hibernate(17, woken, lists:duplicate(1025, a)) end]],
    Me = self(),
    P = spawn(fun() -> erlang:hibernate(?MODULE, woken, [Me]) end),
    P ! wake,
    receive {P, awake} -> io:format("awake~n") end.

woken(Parent) ->
    receive wake -> Parent ! {self(), awake} end.

requests() ->
    Old = erlang:system_flag(outstanding_system_requests_limit, 17),
    io:format("~p ~p~n", [Old, erlang:system_info(outstanding_system_requests_limit)]),
    [io:format("~p~n", [catch_it(fun() -> erlang:system_flag(outstanding_system_requests_limit, N) end)])
     || N <- [0, -1, a, 1 bsl 70, (1 bsl 27)]],
    io:format("~p~n", [erlang:system_flag(outstanding_system_requests_limit, Old)]).

%% Of the slice: what was set is left, less the calls in between.
reductions() ->
    erts_debug:set_internal_state(available_internal_state, true),
    io:format("~p~n", [[begin
                            true = erts_debug:set_internal_state(reds_left, N),
                            Left = erts_debug:get_internal_state(reds_left),
                            Left =< N andalso Left > 0
                        end || N <- [1000, 3000, 500]]]),
    io:format("~p~n", [catch_it(fun() -> erts_debug:set_internal_state(reds_left, a) end)]),
    erts_debug:set_internal_state(available_internal_state, false).

rescheduled() ->
    [io:format("~p~n", [catch_it(F)])
     || F <- [fun() -> erts_debug:dirty_cpu(reschedule, 1000) end,
              fun() -> erts_debug:dirty_io(reschedule, 0) end,
              fun() -> erts_debug:dirty(normal, reschedule, 10) end,
              fun() -> erts_debug:dirty_cpu(reschedule, 1001) end,
              fun() -> erts_debug:dirty_io(reschedule, 1001) end,
              fun() -> erts_debug:dirty(normal, reschedule, 1001) end]].

catch_it(F) ->
    try F() catch C:R:S -> {C, R, setelement(4, hd(S), [])} end.
