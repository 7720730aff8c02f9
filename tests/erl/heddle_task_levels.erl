%% The 32 levels: tasks that wait for one scheduler run in their order, and those from 16 on do not wait forever.
-module(heddle_task_levels).
-export([main/1]).

main(_) ->
    erts_debug:set_internal_state(available_internal_state, true),
    erts_debug:set_internal_state(heddle_task_probe, true),
    S = erlang:system_info(schedulers_online),
    {ok, Fan} = heddle_task:start(probe, none, [{scheduler, S}]),
    %% Of the levels from 16 on a less urgent one may have a turn now and then, so only one of them.
    [io:format("~w~n", [order(Fan, start(S, [L | lists:seq(15, 0, -1)]))]) || L <- [16, 24, 31]],
    %% Erlang's own priorities among them.
    io:format("~w~n", [order(Fan, start(S, [normal, 15, high, 11, 7, max, 3]))]),
    %% While a task at level 17 always has work, those after it have their turns; after one at level 9 they have none until it is done.
    Order17 = beside(Fan, S, 17, [18, 20, 25, 28, 31]),
    io:format("17: ~w, last ~w~n", [lists:sort(Order17), lists:last(Order17)]),
    Order9 = beside(Fan, S, 9, [10, 20, 31]),
    io:format("9: ~w, first ~w~n", [lists:sort(Order9), hd(Order9)]),
    exit(Fan, kill).

%% Tasks that are set up and wait, all on one scheduler.
start(S, Levels) ->
    [begin
         {ok, T} = heddle_task:start(probe, none, [{scheduler, S}, {priority, L}]),
         T ! {echo, self(), ready},
         receive {echo, ready} -> {L, T} end
     end || L <- Levels].

%% The order in which they answer what one on the same scheduler asks them all at once.
order(Fan, Tasks) ->
    Fan ! {fan, self(), [{T, {echo, self(), L}} || {L, T} <- Tasks]},
    Order = [receive {echo, L} -> L end || _ <- Tasks],
    [exit(T, kill) || {_, T} <- Tasks],
    Order.

%% Which is done first: one that works for some thousand slices (a part is 100 reductions, a slice 4,000), or the others, which answer.
beside(Fan, S, Level, Others) ->
    [{_, Worker} | Tasks] = All = start(S, [Level | Others]),
    Fan ! {fan, self(), [{Worker, {work, self(), 100000}} | [{T, {echo, self(), L}} || {L, T} <- Tasks]]},
    Order = [receive {echo, L} -> L; {work, done} -> work end || _ <- All],
    [exit(T, kill) || {_, T} <- All],
    Order.
