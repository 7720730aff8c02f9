%% A ring of processes in which everyone creates a message of its own and sends it on: Wilhelmsson (2002, section 6), procs.
%%
%% Each message is a counter and a list of `Size` elements. Its receiver builds another with a list of its own and the counter
%% less one. At zero the message goes on around, until the leader takes it out; so each is sent about `Times` times and then to
%% the ring's end.
-module(procs).
-export([main/1, run/2, run/3, child/4]).

-define(TIMES, 100).

main([Processes, Size]) -> run(list_to_integer(Processes), list_to_integer(Size));
main([Processes, Size, Times]) -> run(list_to_integer(Processes), list_to_integer(Size), list_to_integer(Times)).

run(Processes, Size) -> run(Processes, Size, ?TIMES).

%% Ends when the end has gone all around the ring; says how many messages the leader took out.
run(Processes, Size, Times) ->
    Next = spawn_link(?MODULE, child, [self(), Processes - 1, Times, Size]),
    Next ! {Times, list(Size, [])},
    leader(Next, true, Size, 0).

child(Leader, 0, Times, Size) ->
    Leader ! {Times, list(Size, [])},
    loop(Leader, Size);
child(Leader, Left, Times, Size) ->
    Next = spawn_link(?MODULE, child, [Leader, Left - 1, Times, Size]),
    Next ! {Times, list(Size, [])},
    loop(Next, Size).

loop(Next, Size) ->
    receive
        {0, _} -> Next ! {0, list(Size, [])}, loop(Next, Size);
        {Count, _} -> Next ! {Count - 1, list(Size, [])}, loop(Next, Size);
        stop -> Next ! stop
    end.

leader(Next, Sending, Size, Taken) ->
    receive
        {0, _} when Sending -> Next ! stop, leader(Next, false, Size, Taken + 1);
        {Count, _} when Sending -> Next ! {Count - 1, list(Size, [])}, leader(Next, true, Size, Taken);
        {_, _} -> leader(Next, false, Size, Taken + 1);
        stop -> Taken
    end.

list(0, List) -> List;
list(N, List) -> list(N - 1, [42 | List]).
