%% Processes that end while they are profiled end as others do: links and monitors fire, names and the table forget them.
-module(profile_ended).
-export([main/1]).

main(_) ->
    Profiler = spawn(fun() -> events([]) end),
    Ring = [spawn_monitor(fun() -> ring(none) end) || _ <- lists:seq(1, 5)],
    Pids = [P || {P, _} <- Ring],
    [P ! {next, Next} || {P, Next} <- lists:zip(Pids, tl(Pids) ++ [hd(Pids)])],
    register(one_of_them, lists:last(Pids)),
    timer:sleep(100),
    undefined = erlang:system_profile(Profiler, [runnable_procs]),
    hd(Pids) ! stop,
    io:format("~p~n", [[receive {'DOWN', M, process, P, Reason} -> Reason after 5000 -> alive end || {P, M} <- Ring]]),
    {Profiler, [runnable_procs]} = erlang:system_profile(undefined, []),
    io:format("~p ~p~n", [[process_info(P) || P <- Pids], whereis(one_of_them)]),
    Profiler ! {events, self()},
    Events = receive {events, E} -> E end,
    io:format("~p~n", [[lists:last([{State, Where} || {profile, Q, State, Where, _} <- Events, Q =:= P]) || P <- Pids]]).

ring(Next) ->
    receive
        {next, P} -> ring(P);
        stop -> Next ! stop
    end.

events(Events) ->
    receive
        {events, To} -> timer:sleep(100), To ! {events, lists:reverse(Events)};
        Event -> events([Event | Events])
    end.
