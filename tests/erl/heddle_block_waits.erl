%% A process that blocks other schedulers waits for one that does not come back, and does not ask again and again.
-module(heddle_block_waits).
-export([main/1, hold/1]).

-define(MS, 300).

main(_) ->
    erts_debug:set_internal_state(available_internal_state, true),
    Last = erlang:system_info(schedulers_online),
    process_flag(scheduler, 1),
    {Holder, Ref} = spawn_opt(?MODULE, hold, [self()], [monitor, {scheduler, Last}]),
    %% With one scheduler it has ended when this process goes on.
    receive {Holder, holds} -> ok end,
    {_, Before} = process_info(self(), reductions),
    erlang:system_flag(multi_scheduling, block),
    {_, Behind} = process_info(self(), reductions),
    erlang:system_flag(multi_scheduling, unblock),
    receive {'DOWN', Ref, process, Holder, Reason} -> io:format("~p~n", [Reason]) end,
    %% The call itself ends two slices.
    case Behind - Before of
        Few when Few < 20000 -> io:format("it waited~n");
        Many -> io:format("~p reductions~n", [Many])
    end.

hold(Parent) ->
    Parent ! {self(), holds},
    erts_debug:set_internal_state(sleep, ?MS).
