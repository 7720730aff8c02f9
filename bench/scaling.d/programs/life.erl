%% Conway's game of life on a board that wraps around: every cell is a process that tells its eight neighbours its state.
%%
%% The board holds gliders that never meet. After four generations a glider has moved by one cell in both directions, so
%% the last board is known without computing it.
-module(life).
-export([prepare/2, run/1, check/2]).

-define(SIDE, 32).
-define(APART, 8).

prepare(_, Scale) -> 4 * scaling:times(240, Scale).

run(Generations) ->
    Main = self(),
    Cells = [{X, Y} || Y <- lists:seq(0, ?SIDE - 1), X <- lists:seq(0, ?SIDE - 1)],
    Alive = maps:from_keys(gliders(), 1),
    Pids = [spawn_link(fun() -> cell(Main, maps:get(At, Alive, 0), Generations) end) || At <- Cells],
    Board = maps:from_list(lists:zip(Cells, Pids)),
    [Pid ! {neighbours, [maps:get(N, Board) || N <- neighbours(At)]} || {At, Pid} <- lists:zip(Cells, Pids)],
    [At || {At, 1} <- lists:zip(Cells, scaling:collect(Pids))].

check(Generations, Living) ->
    Moved = Generations div 4,
    lists:sort(Living) =:= lists:sort([{(X + Moved) rem ?SIDE, (Y + Moved) rem ?SIDE} || {X, Y} <- gliders()]).

gliders() ->
    Corners = lists:seq(0, ?SIDE - ?APART, ?APART),
    [{L + X, T + Y} || L <- Corners, T <- Corners, {X, Y} <- [{1, 0}, {2, 1}, {0, 2}, {1, 2}, {2, 2}]].

neighbours({X, Y}) ->
    [{(X + DX + ?SIDE) rem ?SIDE, (Y + DY + ?SIDE) rem ?SIDE} || DX <- [-1, 0, 1], DY <- [-1, 0, 1], {DX, DY} =/= {0, 0}].

cell(Main, State, Generations) ->
    receive {neighbours, Pids} -> generation(Main, Pids, State, 0, Generations) end.

generation(Main, _, State, Last, Last) -> Main ! {self(), State};
generation(Main, Pids, State, N, Last) ->
    [Pid ! {N, State} || Pid <- Pids],
    Living = count(8, N, 0),
    Next = if Living =:= 3 -> 1; Living =:= 2 -> State; true -> 0 end,
    generation(Main, Pids, Next, N + 1, Last).

%% A neighbour may be one generation ahead: the generation's number picks the right messages.
count(0, _, Sum) -> Sum;
count(Left, N, Sum) -> receive {N, State} -> count(Left - 1, N, Sum + State) end.
