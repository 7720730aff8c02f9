%% A process that asks others for information does not go through the messages that wait for it.
-module(info_long_queue).
-export([main/1]).

main(_) ->
    Other = spawn_link(fun() -> receive stop -> ok end end),
    ask(Other, 100),
    [self() ! {message, N} || N <- lists:seq(1, 20000)],
    ask(Other, 1),
    %% With collections, less than one for every other message and question.
    io:format("~p~n", [reductions(Other) < 1_000_000]),
    %% The position is that of this one question: receive sees all.
    receive {message, 1} -> io:format("first~n") end,
    normal = element(2, process_info(Other, priority)),
    receive {message, N} -> io:format("~p~n", [N]) end,
    receive {message, 20000} -> io:format("last~n") end,
    io:format("~p~n", [process_info(self(), message_queue_len)]),
    Other ! stop,
    gone(Other),
    receive {message, M} -> io:format("~p~n", [M]) end.

reductions(Other) ->
    {reductions, Before} = process_info(self(), reductions),
    ask(Other, 100),
    {reductions, After} = process_info(self(), reductions),
    After - Before.

ask(_, 0) -> ok;
ask(Other, N) ->
    [{priority, normal}, {message_queue_len, 0}] = process_info(Other, [priority, message_queue_len]),
    ask(Other, N - 1).

gone(Other) ->
    case process_info(Other, priority) of
        undefined -> ok;
        {priority, _} -> gone(Other)
    end.
