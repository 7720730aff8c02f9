%% Conway's game of life on a board that wraps around; every square is a process that tells its neighbours its state.
%% Args: SIDE GENERATIONS.
-module(life).
-export([main/1]).

main(Args) ->
    [Side, Generations] = case Args of
                              [] -> [10, 1000];
                              [S] -> [list_to_integer(S), 1000];
                              [S, G | _] -> [list_to_integer(S), list_to_integer(G)]
                          end,
    Main = self(),
    Squares = [{X, Y} || Y <- lists:seq(0, Side - 1), X <- lists:seq(0, Side - 1)],
    Pids = maps:from_list([{At, spawn_link(fun() -> square(Main, At, alive(At, Side)) end)} || At <- Squares]),
    [maps:get(At, Pids) ! {neighbours, neighbours(At, Side, Pids), Generations} || At <- Squares],
    Sum = lists:foldl(fun(At, Acc) -> receive {final, At, State, Changes} -> (Acc * 31 + Changes * 2 + State) rem 1000000007 end end,
                      0, Squares),
    io:format("life: ~w~n", [Sum]).

%% A glider and a blinker, where there is room for them.
alive(At, Side) ->
    Glider = [{1, 0}, {2, 1}, {0, 2}, {1, 2}, {2, 2}],
    Blinker = [{Side - 3, Side - 4}, {Side - 3, Side - 3}, {Side - 3, Side - 2}],
    case lists:member(At, Glider ++ Blinker) of true -> 1; false -> 0 end.

neighbours({X, Y}, Side, Pids) ->
    [maps:get({(X + DX + Side) rem Side, (Y + DY + Side) rem Side}, Pids) || DX <- [-1, 0, 1], DY <- [-1, 0, 1], {DX, DY} =/= {0, 0}].

square(Main, At, State) ->
    receive {neighbours, Pids, Generations} -> generation(Main, At, Pids, State, 0, 0, Generations) end.

generation(Main, At, _, State, Changes, Last, Last) -> Main ! {final, At, State, Changes};
generation(Main, At, Pids, State, Changes, N, Last) ->
    [Pid ! {N, State} || Pid <- Pids],
    Living = count(length(Pids), N, 0),
    Next = if Living =:= 3 -> 1; Living =:= 2 -> State; true -> 0 end,
    generation(Main, At, Pids, Next, Changes + abs(Next - State), N + 1, Last).

%% A neighbour may be one generation ahead: the generation's number picks the right messages.
count(0, _, Sum) -> Sum;
count(Left, N, Sum) -> receive {N, State} -> count(Left - 1, N, Sum + State) end.
