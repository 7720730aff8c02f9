%% One message for all processes of a ring, forwarded again and again: Wilhelmsson (2002, section 6), same.
-module(same).
-export([main/1, run/2, run/3, child/4]).

-define(TIMES, 10).

main([Processes, Size]) -> run(list_to_integer(Processes), list_to_integer(Size));
main([Processes, Size, Times]) -> run(list_to_integer(Processes), list_to_integer(Size), list_to_integer(Times)).

run(Processes, Size) -> run(Processes, Size, ?TIMES).

%% The list is built once. Every process sends it on with a counter of its own.
run(Processes, Size, Times) ->
    Message = list(Size, []),
    Next = spawn_link(?MODULE, child, [self(), Processes - 2, Times, Message]),
    Next ! {Times - 1, Message},
    coordinator(Next, Processes).

child(Leader, 0, Times, Message) ->
    Leader ! {Times - 1, Message},
    loop(Leader);
child(Leader, Left, Times, Message) ->
    Next = spawn_link(?MODULE, child, [Leader, Left - 1, Times, Message]),
    Next ! {Times - 1, Message},
    loop(Next).

loop(Next) ->
    receive
        stop -> Next ! stop;
        {0, _} -> Next ! {0, empty}, loop(Next);
        {Times, Message} -> Next ! {Times - 1, Message}, loop(Next)
    end.

coordinator(Next, 0) ->
    Next ! stop,
    receive stop -> ok end;
coordinator(Next, Left) ->
    receive
        {0, _} -> coordinator(Next, Left - 1);
        {Times, Message} -> Next ! {Times - 1, Message}, coordinator(Next, Left)
    end.

list(0, List) -> List;
list(N, List) -> list(N - 1, [42 | List]).
