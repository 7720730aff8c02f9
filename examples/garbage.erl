%% Every process makes a new message for each send, and receivers throw them away: garbage only.
%% Args: PROCESSES MESSAGE_SIZE SENDS.
-module(garbage).
-export([main/1]).

main(Args) ->
    [Processes, Size, Sends] = sizes(Args, [250, 250, 10]),
    Main = self(),
    Pids = [spawn_link(fun() -> receive {next, Next} -> run(Main, Next, Id, Size, Sends) end end) || Id <- lists:seq(1, Processes)],
    lists:foldl(fun(Pid, Next) -> Pid ! {next, Next}, Pid end, hd(Pids), lists:reverse(Pids)),
    Sum = lists:sum([receive {Pid, Weight} -> Weight end || Pid <- Pids]),
    io:format("garbage: ~w~n", [Sum]).

run(Main, Next, Id, Size, Sends) -> Main ! {self(), turn(Next, Id, Size, Sends, 0)}.

turn(_, _, _, 0, Sum) -> Sum;
turn(Next, Id, Size, N, Sum) ->
    Next ! {message, message(Id + N, Size)},
    receive {message, Data} -> turn(Next, Id, Size, N - 1, Sum + weigh(Data)) end.

message(Seed, Size) -> [(Seed * 17 + N) rem 1009 || N <- lists:seq(1, Size)].

weigh(Data) -> lists:foldl(fun(X, Acc) -> (Acc * 7 + X) rem 100003 end, 0, Data).

sizes([], Defaults) -> Defaults;
sizes([A | Args], [_ | Defaults]) -> [list_to_integer(A) | sizes(Args, Defaults)];
sizes(_, []) -> [].
