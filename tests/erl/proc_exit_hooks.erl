%% after-clauses do not run when a process is killed from outside; they do for its own exits.
-module(proc_exit_hooks).
-export([main/1]).

main(_) ->
    Me = self(),
    F = fun(Body) -> fun() -> try Body() after Me ! cleaned end end end,
    [begin {P, M} = spawn_monitor(F(B)), N =:= outside andalso exit(P, stop), receive {'DOWN', M, _, _, _} -> ok end, t:w(N, t:flush()) end ||
        {N, B} <- [{own_exit, fun() -> exit(x) end}, {own_error, fun() -> hd(t:id([])) end}, {normal, fun() -> ok end}, {own_throw, fun() -> throw(x) end}, {outside, fun() -> receive never -> ok end end}]],
    ok.
