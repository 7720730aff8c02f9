%% Big bang: every process pings every other one and answers the pings it gets. Args: PROCESSES.
-module(bang).
-export([main/1]).

main(Args) ->
    N = case Args of [A | _] -> list_to_integer(A); [] -> 500 end,
    Main = self(),
    All = [spawn_link(fun() -> start(Main) end) || _ <- lists:seq(1, N)],
    [Pid ! {all, All} || Pid <- All],
    Pongs = lists:sum([receive {finished, Pid, Count} -> Count end || Pid <- All]),
    %% Only now may they stop answering.
    [Pid ! stop || Pid <- All],
    Pings = lists:sum([receive {answered, Pid, Count} -> Count end || Pid <- All]),
    io:format("bang: ~w~n", [Pongs * 2 + Pings]).

start(Main) ->
    receive
        {all, All} ->
            Others = All -- [self()],
            [Pid ! {ping, self()} || Pid <- Others],
            loop(Main, length(Others), length(Others), 0)
    end.

loop(Main, 0, Total, Answered) when is_integer(Total) ->
    Main ! {finished, self(), Total},
    loop(Main, 0, done, Answered);
loop(Main, Waiting, Total, Answered) ->
    receive
        {ping, From} -> From ! {pong, self()}, loop(Main, Waiting, Total, Answered + 1);
        {pong, _} -> loop(Main, Waiting - 1, Total, Answered);
        stop -> Main ! {answered, self(), Answered}
    end.
