%% A message there and one back, between two processes. There is no parallelism in it.
-module(pingpong).
-export([prepare/2, run/1, check/2]).

prepare(_, Scale) -> scaling:times(5000000, Scale).

run(Rounds) ->
    Main = self(),
    scaling:collect([spawn_link(fun() ->
        Pong = spawn_link(fun pong/0),
        Main ! {self(), ping(Pong, Rounds, 0)}
    end)]).

check(Rounds, Result) -> Result =:= [Rounds * (Rounds + 1) div 2].

ping(Pong, 0, Sum) -> Pong ! stop, Sum;
ping(Pong, N, Sum) ->
    Pong ! {ping, self(), N},
    receive {pong, X} -> ping(Pong, N - 1, Sum + X) end.

pong() ->
    receive
        {ping, From, N} -> From ! {pong, N}, pong();
        stop -> ok
    end.
