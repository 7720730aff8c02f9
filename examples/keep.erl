%% Every process makes a new message for each send, and every receiver stores what it gets in a list: live data grows.
%% Args: PROCESSES MESSAGE_SIZE SENDS.
-module(keep).
-export([main/1]).

main(Args) ->
    [Processes, Size, Sends] = sizes(Args, [250, 250, 10]),
    Main = self(),
    Pids = [spawn_link(fun() -> receive {next, Next} -> run(Main, Next, Id, Size, Sends) end end) || Id <- lists:seq(1, Processes)],
    lists:foldl(fun(Pid, Next) -> Pid ! {next, Next}, Pid end, hd(Pids), lists:reverse(Pids)),
    Sum = lists:sum([receive {Pid, Weight} -> Weight end || Pid <- Pids]),
    io:format("keep: ~w~n", [Sum]).

run(Main, Next, Id, Size, Sends) ->
    Kept = turn(Next, Id, Size, Sends, []),
    Main ! {self(), lists:sum([weigh(Data) || Data <- Kept])}.

turn(_, _, _, 0, Kept) -> Kept;
turn(Next, Id, Size, N, Kept) ->
    Next ! {message, message(Id + N, Size)},
    receive {message, Data} -> turn(Next, Id, Size, N - 1, [Data | Kept]) end.

message(Seed, Size) -> [(Seed * 17 + N) rem 1009 || N <- lists:seq(1, Size)].

weigh(Data) -> lists:foldl(fun(X, Acc) -> (Acc * 7 + X) rem 100003 end, 0, Data).

sizes([], Defaults) -> Defaults;
sizes([A | Args], [_ | Defaults]) -> [list_to_integer(A) | sizes(Args, Defaults)];
sizes(_, []) -> [].
