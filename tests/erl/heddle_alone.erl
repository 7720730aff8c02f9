%% A scheduler that is alone at work changes what is shared without atomic instructions, and others come in at any time: dirty threads,
%% other schedulers. No message is lost, and it begins to be alone again and again.
-module(heddle_alone).
-export([main/1]).

-define(MEMBERS, 5).

main(_) ->
    Before = claims(),
    Reader = spawn_link(fun() -> read(0) end),
    Rounds = rounds(Before, 0, erlang:monotonic_time(millisecond) + 60000),
    Reader ! {stop, self()},
    Read = receive {Reader, N} -> N end,
    io:format("went around: ~p, read beside: ~p, alone: ~p~n",
              [Rounds > 0, Read > 0, not erlang:system_info(smp_support) orelse claims() >= Before + 3]).

claims() -> lists:sum([N || #{claims := N} <- heddle_stats:schedulers()]).

%% Tokens around rings, by turns with a burst for all schedulers, until it was alone some times.
rounds(Before, Rounds, Until) ->
    ok = around(2000),
    ok = burst(50),
    IsOver = claims() >= Before + 3 orelse not erlang:system_info(smp_support) orelse erlang:monotonic_time(millisecond) > Until,
    if IsOver -> Rounds + 1; true -> rounds(Before, Rounds + 1, Until) end.

around(Steps) ->
    Self = self(),
    Last = lists:foldl(fun(_, Next) -> spawn_link(fun() -> pass(Next) end) end, Self, lists:seq(1, ?MEMBERS)),
    Last ! {Steps, 0},
    go_on(Last).

go_on(First) ->
    receive
        {0, Passed} when Passed rem ?MEMBERS =:= 0 -> First ! stop, receive stop -> ok end;
        {N, Passed} when N > 0, Passed rem ?MEMBERS =:= 0 -> First ! {N - 1, Passed}, go_on(First)
    end.

pass(Next) ->
    receive
        stop -> Next ! stop;
        {N, Passed} -> Next ! {N, Passed + 1}, pass(Next)
    end.

burst(N) ->
    Self = self(),
    Pids = [spawn_link(fun() -> Self ! {self(), lists:sum(lists:seq(1, 3000))} end) || _ <- lists:seq(1, N)],
    Sums = [receive {P, Sum} -> Sum end || P <- Pids],
    [4501500] = lists:usort(Sums),
    ok.

%% Each look at a file is on a dirty thread.
read(N) ->
    {ok, _} = file:read_file_info(code:which(lists)),
    receive {stop, From} -> From ! {self(), N + 1}
    after 1 -> read(N + 1)
    end.
