%% The type `pacer`: messages pass no faster than they may, in order, and none is lost but those that are counted.
-module(heddle_task_pacer).
-export([main/1]).

main(_) ->
    io:format("~p~n", [[heddle_task:start(pacer, A) || A <- [none, #{}, #{to => 1}, #{to => self()}, #{to => self(), rate => 0},
                                                           #{to => self(), rate => 1, burst => 0}, #{to => self(), rate => 1, flush => 1}]]]),
    %% The burst passes at once, the others a hundred a second.
    {ok, P} = heddle_task:start_link(pacer, #{to => self(), rate => 100, burst => 5}),
    Start = now_ms(),
    [P ! {I, lists:duplicate(I, x)} || I <- lists:seq(1, 25)],
    Times = [receive {I, L} when length(L) =:= I -> now_ms() - Start end || I <- lists:seq(1, 25)],
    io:format("in time: ~p~n", [lists:nth(25, Times) >= 195]),
    io:format("~kp~n", [until(P, fun(#{passed := Passed}) -> Passed =:= 25 end)]),
    %% Every kind of term.
    Terms = [binary:copy(<<7>>, 100000), #{k => [1.5, 1 bsl 100]}, fun lists:map/2, make_ref(), {self(), "text", <<1:1>>}],
    [P ! T || T <- Terms],
    io:format("same: ~p~n", [[receive T -> same end || T <- Terms]]),
    unlink(P),
    exit(P, kill),
    %% What does not pass in time waits, up to the limit; at the end it passes on what waits.
    {ok, {Q, M}} = heddle_task:start(pacer, #{to => self(), rate => 0.001, limit => 10}, [monitor, {name, heddle_pacer}]),
    [heddle_pacer ! I || I <- lists:seq(1, 20)],
    io:format("~kp~n", [until(Q, fun(#{waiting := W, passed := Passed, dropped := D}) -> W + Passed + D =:= 20 end)]),
    exit(Q, stop),
    io:format("passed on: ~w~n", [[receive I when is_integer(I) -> I after 20000 -> none end || _ <- lists:seq(1, 11)]]),
    receive {'DOWN', M, process, Q, Reason} -> io:format("~p~n", [Reason]) end,
    {ok, {R, M2}} = heddle_task:start(pacer, #{to => self(), rate => 0.001, flush => false}, [monitor]),
    [R ! I || I <- lists:seq(1, 5)],
    #{waiting := 4} = until(R, fun(#{waiting := W, passed := Passed}) -> W + Passed =:= 5 end),
    exit(R, stop),
    receive {'DOWN', M2, process, R, stop} -> io:format("kept: ~w~n", [[receive I when is_integer(I) -> I after 0 -> none end || _ <- [1, 2]]]) end,
    %% It ends with its target, and a target that has a name may come and go.
    T = spawn(fun() -> receive stop -> ok end end),
    {ok, {S, M3}} = heddle_task:start(pacer, #{to => T, rate => 1000}, [monitor]),
    S ! stop,
    receive {'DOWN', M3, process, S, Why} -> io:format("~p~n", [Why]) end,
    {ok, N} = heddle_task:start_link(pacer, #{to => heddle_paced, rate => 1000000, burst => 1000}),
    N ! lost,
    #{passed := 1} = until(N, fun(#{passed := Passed}) -> Passed > 0 end),
    register(heddle_paced, self()),
    N ! found,
    receive found -> io:format("found~n") end,
    unlink(N),
    exit(N, kill).

%% What it tells, once that is so.
until(Task, Holds) ->
    Info = maps:get(info, heddle_task:info(Task)),
    case Holds(Info) of
        true -> Info;
        false -> timer:sleep(1), until(Task, Holds)
    end.

now_ms() -> erlang:monotonic_time(millisecond).
