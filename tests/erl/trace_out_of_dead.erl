%% A process that ends is not traced as switched out, but with the flag `exiting`; then it is out for good.
-module(trace_out_of_dead).
-export([main/1]).

main(_) ->
    [t:w({Flags, How}, ended(Flags, How))
     || Flags <- [[running], [running, procs], [running_procs], [exiting], [running, exiting], [exiting, running_procs]],
        How <- [exit, normal, kill]].

ended(Flags, How) ->
    {P, M} = spawn_monitor(fun() -> receive go -> ok end, case How of exit -> exit(done); normal -> ok; kill -> receive never -> ok end end end),
    waits(P),
    1 = erlang:trace(P, true, [{tracer, self()} | Flags]),
    P ! go,
    How =:= kill andalso begin answers(P), exit(P, kill) end,
    receive {'DOWN', M, _, _, _} -> ok end,
    receive after 20 -> ok end,
    last(P, []).

waits(P) -> case process_info(P, status) of {_, waiting} -> ok; _ -> erlang:yield(), waits(P) end.
answers(P) -> case process_info(P, [messages, status]) of [{_, []}, {_, waiting}] -> ok; _ -> erlang:yield(), answers(P) end.

%% The last event of switching, and the exit.
last(P, Seen) ->
    receive
        {trace, P, exit, Why} -> last(P, Seen ++ [{exit, Why}]);
        {trace, P, out_exited, At} -> last(P, Seen ++ [{out_exited, At}]);
        {trace, P, out, 0} -> last(P, Seen ++ [{out, 0}]);
        {trace, P, _, _} -> last(P, Seen)
    after 0 -> Seen
    end.
