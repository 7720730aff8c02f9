%% A ring of processes that make a new message each time and throw the old one away: Wilhelmsson (2002, section 6), garbage.
-module(garbage).
-export([main/1, run/2, run/3, child/4]).

-define(TIMES, 10).

main([Processes, Size]) -> run(list_to_integer(Processes), list_to_integer(Size));
main([Processes, Size, Times]) -> run(list_to_integer(Processes), list_to_integer(Size), list_to_integer(Times)).

run(Processes, Size) -> run(Processes, Size, ?TIMES).

%% One message starts at each process; each ends at the coordinator once it was sent `Times` times.
run(Processes, Size, Times) ->
    Next = spawn_link(?MODULE, child, [self(), Processes - 2, Times, Size]),
    Next ! {Times - 1, list(Size, [])},
    coordinator(Next, Size, Processes).

child(Leader, 0, Times, Size) ->
    Leader ! {Times - 1, list(Size, [])},
    loop(Leader, Size);
child(Leader, Left, Times, Size) ->
    Next = spawn_link(?MODULE, child, [Leader, Left - 1, Times, Size]),
    Next ! {Times - 1, list(Size, [])},
    loop(Next, Size).

loop(Next, Size) ->
    receive
        stop -> Next ! stop;
        {0, _} -> Next ! {0, empty}, loop(Next, Size);
        {Times, _} -> Next ! {Times - 1, list(Size, [])}, loop(Next, Size)
    end.

coordinator(Next, _, 0) ->
    Next ! stop,
    receive stop -> ok end;
coordinator(Next, Size, Left) ->
    receive
        {0, _} -> coordinator(Next, Size, Left - 1);
        {Times, _} -> Next ! {Times - 1, list(Size, [])}, coordinator(Next, Size, Left)
    end.

list(0, List) -> List;
list(N, List) -> list(N - 1, [42 | List]).
