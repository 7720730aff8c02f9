%% The process that brings literals back sleeps while it waits for others: it has little to do for each batch, and nothing while a
%% process does not come back from a native. (Stock counts a whole slice for each wait.)
-module(heddle_literals_wait).
-export([main/1]).

-define(ROUNDS, 20).
%% Reductions. It asks each process once or twice a batch, which is some hundreds; one that polls has more in a millisecond.
-define(FEW, 5000).

main(_) ->
    erts_debug:set_internal_state(available_internal_state, true),
    [C] = [P || P <- processes(), process_info(P, initial_call) =:= {initial_call, {erts_literal_area_collector, start, 0}}],
    loads(C),
    stuck(C).

loads(C) ->
    Before = used(C),
    [load(I) || I <- lists:seq(1, ?ROUNDS)],
    idle(C),
    few("loads", used(C) - Before, ?ROUNDS * ?FEW).

load(I) ->
    Forms = [{attribute, 1, module, literals_wait_m}, {attribute, 1, export, [{v, 0}]},
             {function, 1, v, 0, [{clause, 1, [], [], [erl_parse:abstract({lit, I, [1.5, 1 bsl 80]})]}]}],
    {ok, M, Bin} = compile:forms(Forms),
    {module, M} = code:load_binary(M, "m", Bin),
    {lit, I, _} = M:v(),
    code:purge(M),
    true = code:delete(M),
    code:purge(M).

%% One scheduler is held by a native, where there are several. What is given up meanwhile waits for it.
stuck(C) ->
    Me = self(),
    Last = erlang:system_info(schedulers_online),
    process_flag(scheduler, 1),
    Before = used(C),
    {P, Ref} = spawn_opt(fun() -> Me ! begins, erts_debug:set_internal_state(sleep, 300) end, [monitor, {scheduler, Last}]),
    receive begins -> ok end,
    receive after 20 -> ok end,
    [begin persistent_term:put({?MODULE, I}, lists:seq(1, 100)), persistent_term:erase({?MODULE, I}) end || I <- lists:seq(1, 10)],
    receive {'DOWN', Ref, process, P, Reason} -> io:format("~p~n", [Reason]) end,
    idle(C),
    process_flag(scheduler, 0),
    few("stuck", used(C) - Before, 3 * ?FEW).

few(What, Used, Limit) when Used =< Limit -> io:format("~s few~n", [What]);
few(What, Used, _) -> io:format("~s ~p~n", [What, Used]).

used(C) ->
    {reductions, N} = process_info(C, reductions),
    N.

%% All that was given up is free.
idle(C) ->
    Ref = make_ref(),
    C ! {get_status, Ref, self()},
    receive
        {Ref, idle} -> ok;
        {Ref, working} -> receive after 1 -> idle(C) end
    end.
