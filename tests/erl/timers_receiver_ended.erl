%% Timers to a process end with it.
-module(timers_receiver_ended).
-export([main/1]).

main(_) ->
    {P, M} = spawn_monitor(fun() -> receive stop -> ok end end),
    Timers = [erlang:send_after(60_000 + N, P, N) || N <- lists:seq(1, 200)] ++
        [erlang:start_timer(60_000, P, N) || N <- lists:seq(1, 200)],
    io:format("~p~n", [lists:all(fun(T) -> is_integer(erlang:read_timer(T)) end, Timers)]),
    P ! stop,
    receive {'DOWN', M, process, P, Reason} -> io:format("~p~n", [Reason]) end,
    wait(hd(Timers), 200),
    {Read, Cancel} = lists:split(200, Timers),
    io:format("~p~n", [lists:usort([erlang:read_timer(T) || T <- Read])]),
    io:format("~p~n", [lists:usort([erlang:cancel_timer(T) || T <- Cancel])]),
    %% One that is gone before its timer is set.
    Late = erlang:send_after(10_000, P, late),
    io:format("~p ~p~n", [erlang:read_timer(Late), erlang:cancel_timer(Late)]),
    %% Timers to a name stay: the process that has it then gets the message.
    Named = erlang:send_after(60_000, nobody_has_this_name, late),
    io:format("~p~n", [is_integer(erlang:cancel_timer(Named))]),
    %% Many receivers, of which every other one ends.
    All = [begin
               Q = spawn(fun() -> receive stop -> ok end end),
               {Q, erlang:send_after(60_000, Q, late)}
           end || _ <- lists:seq(1, 1000)],
    {End, Stay} = lists:split(500, All),
    [exit(Q, kill) || {Q, _} <- End],
    %% Each is told by itself.
    [wait(T, 200) || {_, T} <- End],
    io:format("~p~n", [lists:usort([erlang:read_timer(T) || {_, T} <- End])]),
    io:format("~p~n", [lists:all(fun({_, T}) -> is_integer(erlang:cancel_timer(T)) end, Stay)]).

wait(_, 0) -> ok;
wait(Timer, N) ->
    case erlang:read_timer(Timer) of
        false -> ok;
        _ -> timer:sleep(10), wait(Timer, N - 1)
    end.
