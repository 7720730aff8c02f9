%% A ring of processes that make a new message each time and keep those that they got in a list: Wilhelmsson (2002, section 6), keep.
-module(keep).
-export([main/1, run/2, run/3, child/4]).

-define(TIMES, 10).

main([Processes, Size]) -> run(list_to_integer(Processes), list_to_integer(Size));
main([Processes, Size, Times]) -> run(list_to_integer(Processes), list_to_integer(Size), list_to_integer(Times)).

run(Processes, Size) -> run(Processes, Size, ?TIMES).

%% As in garbage. The coordinator forwards the list that it got.
run(Processes, Size, Times) ->
    Next = spawn_link(?MODULE, child, [self(), Processes - 2, Times, Size]),
    Next ! {Times - 1, list(Size, [])},
    coordinator(Next, [], Processes).

child(Leader, 0, Times, Size) ->
    Leader ! {Times - 1, list(Size, [])},
    loop(Leader, Size, []);
child(Leader, Left, Times, Size) ->
    Next = spawn_link(?MODULE, child, [Leader, Left - 1, Times, Size]),
    Next ! {Times - 1, list(Size, [])},
    loop(Next, Size, []).

loop(Next, Size, Kept) ->
    receive
        stop -> Next ! stop, length(Kept);
        {0, _} -> Next ! {0, empty}, loop(Next, Size, Kept);
        {Times, Message} -> Next ! {Times - 1, list(Size, [])}, loop(Next, Size, [Message | Kept])
    end.

coordinator(Next, Kept, 0) ->
    Next ! stop,
    receive stop -> length(Kept) end;
coordinator(Next, Kept, Left) ->
    receive
        {0, _} -> coordinator(Next, Kept, Left - 1);
        {Times, Message} -> Next ! {Times - 1, Message}, coordinator(Next, [Message | Kept], Left)
    end.

list(0, List) -> List;
list(N, List) -> list(N - 1, [42 | List]).
