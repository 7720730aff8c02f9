%% Big Bang: each of N processes sends a ping to every other one, and answers the pings that it gets.
-module(bang).
-export([prepare/2, run/1, check/2]).

%% Messages grow with the square of the processes.
prepare(_, Scale) -> max(2, round(1000 * math:sqrt(Scale))).

run(N) ->
    Main = self(),
    Pids = [spawn_link(fun() -> wait(Main) end) || _ <- lists:seq(1, N)],
    [P ! {all, Pids} || P <- Pids],
    Pongs = [receive {finished, P, Count} -> Count end || P <- Pids],
    %% Only now may they stop answering.
    [P ! stop || P <- Pids],
    {lists:sum(Pongs), lists:sum(scaling:collect(Pids))}.

check(N, Result) -> Result =:= {N * (N - 1), N * (N - 1)}.

wait(Main) ->
    receive {all, Pids} ->
        Others = lists:delete(self(), Pids),
        [P ! {ping, self()} || P <- Others],
        pinged(Main, length(Others), 0, 0)
    end.

pinged(Main, Sent, Sent, Answered) ->
    Main ! {finished, self(), Sent},
    answer(Main, Answered);
pinged(Main, Sent, Pongs, Answered) ->
    receive
        {ping, From} -> From ! {pong, self()}, pinged(Main, Sent, Pongs, Answered + 1);
        {pong, _} -> pinged(Main, Sent, Pongs + 1, Answered)
    end.

answer(Main, Answered) ->
    receive
        {ping, From} -> From ! {pong, self()}, answer(Main, Answered + 1);
        stop -> Main ! {self(), Answered}
    end.
