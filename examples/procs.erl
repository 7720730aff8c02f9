%% A ring where each process, when it is spawned, makes a message of its own and sends it to its child; each message
%% travels until its counter is used up. Args: PROCESSES MESSAGE_SIZE SENDS.
-module(procs).
-export([main/1]).

main(Args) ->
    [Processes, Size, Sends] = sizes(Args, [100, 100, 100]),
    Main = self(),
    Head = spawn_link(fun() -> head(Main, Processes, Size, Sends) end),
    receive {Head, Sum} -> io:format("procs: ~w~n", [Sum]) end.

%% The head closes the ring and adds up the messages that have come to their end.
head(Main, Processes, Size, Sends) ->
    Head = self(),
    Next = spawn_link(fun() -> member(Head, Processes - 1, Size, Sends) end),
    Next ! message(Processes, Size, Sends),
    Main ! {Head, gather(Next, Processes, 0)}.

gather(_, 0, Sum) -> Sum;
gather(Next, Left, Sum) ->
    receive
        {message, 0, Data} -> gather(Next, Left - 1, Sum + lists:sum(Data));
        {done, Data} -> gather(Next, Left - 1, Sum + lists:sum(Data));
        {message, N, Data} -> Next ! {message, N - 1, Data}, gather(Next, Left, Sum)
    end.

member(Head, 0, _, _) -> forward(Head, Head);
member(Head, N, Size, Sends) ->
    Next = spawn_link(fun() -> member(Head, N - 1, Size, Sends) end),
    Next ! message(N, Size, Sends),
    forward(Head, Next).

forward(Head, Next) ->
    receive
        {message, 0, Data} -> Head ! {done, Data}, forward(Head, Next);
        {message, N, Data} -> Next ! {message, N - 1, Data}, forward(Head, Next);
        {done, Data} -> Head ! {done, Data}, forward(Head, Next)
    end.

message(Seed, Size, Sends) -> {message, Sends, [(Seed * 31 + N) rem 1009 || N <- lists:seq(1, Size)]}.

sizes([], Defaults) -> Defaults;
sizes([A | Args], [_ | Defaults]) -> [list_to_integer(A) | sizes(Args, Defaults)];
sizes(_, []) -> [].
