%% One message is made and handed around among all processes, SENDS times each: sharing at its best.
%% Args: PROCESSES MESSAGE_SIZE SENDS.
-module(same).
-export([main/1]).

main(Args) ->
    [Processes, Size, Sends] = sizes(Args, [250, 250, 10]),
    Main = self(),
    Message = message(0, Size),
    Pids = [spawn_link(fun() -> receive {next, Next} -> run(Main, Next, Message, Sends) end end) || _ <- lists:seq(1, Processes)],
    lists:foldl(fun(Pid, Next) -> Pid ! {next, Next}, Pid end, hd(Pids), lists:reverse(Pids)),
    Sum = lists:sum([receive {Pid, Weight} -> Weight end || Pid <- Pids]),
    io:format("same: ~w~n", [Sum]).

%% Sends the one message, waits for the one from the other side of the ring, and so on.
run(Main, Next, Message, Sends) -> Main ! {self(), turn(Next, Message, Sends, 0)}.

turn(_, _, 0, Sum) -> Sum;
turn(Next, Message, N, Sum) ->
    Next ! {message, Message},
    receive {message, Data} -> turn(Next, Data, N - 1, Sum + weigh(Data)) end.

message(Seed, Size) -> [(Seed * 17 + N) rem 1009 || N <- lists:seq(1, Size)].

weigh(Data) -> lists:foldl(fun(X, Acc) -> (Acc * 7 + X) rem 100003 end, 0, Data).

sizes([], Defaults) -> Defaults;
sizes([A | Args], [_ | Defaults]) -> [list_to_integer(A) | sizes(Args, Defaults)];
sizes(_, []) -> [].
