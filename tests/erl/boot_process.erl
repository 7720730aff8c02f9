%% Spawn, send, receive, and the end of a process.
-module(boot_process).
-export([main/1]).

main(_) ->
    Me = self(),
    P = spawn(fun() -> receive {From, N} -> From ! {answer, N * 2} end end),
    P ! {Me, 21},
    receive {answer, A} -> erlang:display(A) end,
    {Q, R} = spawn_monitor(fun() -> exit(bye) end),
    receive {'DOWN', R, process, Q, Why} -> erlang:display(Why) end,
    Me ! b, Me ! a,
    receive a -> erlang:display(a) end,
    receive b -> erlang:display(b) end,
    receive never -> no after 0 -> erlang:display(nothing) end,
    receive never -> no after 5 -> erlang:display(later) end.
