%% Exit signals through links.
-module(boot_links).
-export([main/1]).

main(_) ->
    process_flag(trap_exit, true),
    P = spawn_link(fun() -> exit(reason) end),
    receive {'EXIT', P, W} -> erlang:display(W) end,
    Q = spawn_link(fun() -> receive stop -> ok end end),
    exit(Q, kill),
    receive {'EXIT', Q, W2} -> erlang:display(W2) end,
    S = spawn_link(fun() -> receive stop -> ok end end),
    S ! stop,
    receive {'EXIT', S, W3} -> erlang:display(W3) end.
