%% What a process learns about itself: messages it has not looked at yet, and the reductions of the running slice, copies of
%% binaries included.
-module(proc_info_own).
-export([main/1]).

main(_) ->
    [self() ! N || N <- [1, 2, 3]],
    io:format("~p~n", [process_info(self(), messages)]),
    self() ! {four, lists:seq(1, 4)},
    io:format("~p~n", [process_info(self(), [message_queue_len, messages])]),
    receive 2 -> ok end,
    self() ! five,
    io:format("~p~n", [process_info(self(), [messages, message_queue_len])]),
    Before = reductions(),
    count(1000),
    After = reductions(),
    io:format("~p~n", [After - Before >= 1000]),
    Megabyte = binary:copy(<<0>>, 1 bsl 20),
    Costs = [cost(F) >= 1000 || F <- [fun() -> <<1, Megabyte/binary>> end,
                                      fun() -> <<Megabyte/binary, 1>> end,
                                      fun() -> <<1:1, Megabyte/binary>> end]],
    io:format("~p~n", [Costs]).

reductions() ->
    {reductions, N} = process_info(self(), reductions),
    N.

cost(F) ->
    Before = reductions(),
    F(),
    reductions() - Before.

count(0) -> ok;
count(N) -> count(N - 1).
