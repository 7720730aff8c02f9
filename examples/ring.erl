%% A ring of processes around which messages travel. Args: PROCESSES MESSAGES.
%% Each message makes one round; every process adds to it what it has seen, so the sum tells of lost or doubled ones.
-module(ring).
-export([main/1]).

main(Args) ->
    {Processes, Messages} = sizes(Args, 1000, 1000),
    First = self(),
    Next = lists:foldl(fun(_, To) -> spawn_link(fun() -> node_loop(To) end) end, First, lists:seq(2, Processes)),
    [Next ! {token, N, 1} || N <- lists:seq(1, Messages)],
    Sum = lists:foldl(fun(N, Acc) -> receive {token, N, Hops} -> (Acc * 31 + N * Hops) rem 1000000007 end end,
                      0, lists:seq(1, Messages)),
    Next ! stop,
    receive stop -> ok end,
    io:format("ring: ~w~n", [Sum]).

node_loop(Next) ->
    receive
        {token, N, Hops} -> Next ! {token, N, Hops + 1}, node_loop(Next);
        stop -> unlink(Next), Next ! stop
    end.

sizes([], A, B) -> {A, B};
sizes([A], _, B) -> {list_to_integer(A), B};
sizes([A, B | _], _, _) -> {list_to_integer(A), list_to_integer(B)}.
