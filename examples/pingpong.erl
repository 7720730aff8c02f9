%% Two processes and one message between them. Args: ROUNDS.
-module(pingpong).
-export([main/1]).

main(Args) ->
    Rounds = case Args of [A | _] -> list_to_integer(A); [] -> 500000 end,
    Pong = spawn_link(fun pong/0),
    Sum = ping(Pong, Rounds, 0),
    Pong ! stop,
    io:format("pingpong: ~w~n", [Sum]).

ping(_, 0, Sum) -> Sum;
ping(Pong, N, Sum) ->
    Pong ! {ping, self(), N},
    receive {pong, Pong, X} -> ping(Pong, N - 1, (Sum + X) rem 1000000007) end.

pong() ->
    receive
        {ping, From, N} -> From ! {pong, self(), N * 3}, pong();
        stop -> ok
    end.
