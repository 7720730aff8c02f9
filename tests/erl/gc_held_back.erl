%% Collections that others ask for, in a time in which the process lets none be done (a state of the emulator for tests).
-module(gc_held_back).
-export([main/1]).

main(_) ->
    %% True before if another program of the same emulator did it.
    erts_debug:set_internal_state(available_internal_state, true),
    Me = self(),
    {P, M} = spawn_monitor(fun() ->
        Me ! {self(), erts_debug:set_internal_state(gc_state, false)},
        receive on -> ok end,
        %% A process that needs memory goes on.
        Me ! {self(), length(lists:seq(1, 100_000))},
        receive go_on -> ok end,
        Me ! {self(), erts_debug:set_internal_state(gc_state, true)},
        receive stop -> ok end
    end),
    t:w(before, receive {P, B} -> B end),
    async = erlang:garbage_collect(P, [{async, first}]),
    async = erlang:garbage_collect(P, [{async, second}, {type, minor}]),
    t:w(held, receive {garbage_collect, _, _} = Early -> Early after 100 -> nothing end),
    P ! on,
    t:w(length, receive {P, L} -> L end),
    P ! go_on,
    t:w(was, receive {P, W} -> W end),
    t:w(done, lists:sort([receive {garbage_collect, Id, Done} -> {Id, Done} end || _ <- [1, 2]])),
    t:w(at_once, erlang:garbage_collect(P)),
    P ! stop,
    t:w(down, receive {'DOWN', M, _, _, Why} -> Why end),
    %% A process that ends answers those that wait.
    {Q, N} = spawn_monitor(fun() -> erts_debug:set_internal_state(gc_state, false), Me ! ready, receive stop -> ok end end),
    receive ready -> ok end,
    async = erlang:garbage_collect(Q, [{async, third}]),
    t:w(held, receive {garbage_collect, _, _} = Early2 -> Early2 after 100 -> nothing end),
    Q ! stop,
    t:w(down, receive {'DOWN', N, _, _, Why2} -> Why2 end),
    t:w(ended, receive {garbage_collect, third, Ended} -> Ended end).
