%% A process has a large heap and takes small messages, which fill it: a collection that takes long is still done elsewhere (big_gc_long).
-module(big_gc_long_few_words).
-export([main/1]).

-define(ELEMENTS, 600_000).
-define(MESSAGES, 700_000).

main(_) ->
    Me = self(),
    Pid = spawn_link(fun() ->
        L = lists:seq(1, ?ELEMENTS),
        garbage_collect(),
        Me ! {self(), ready},
        receive go -> ok end,
        Sum = take(?MESSAGES, 0),
        Me ! {self(), Sum + lists:sum(L)}
    end),
    receive {Pid, ready} -> ok end,
    erlang:suspend_process(Pid),
    Pid ! go,
    [Pid ! {N, Pid} || N <- lists:seq(1, ?MESSAGES)],
    garbage_collect(),
    Before = copied_by_schedulers(),
    erlang:resume_process(Pid),
    receive {Pid, Sum} -> ok end,
    io:format("sum ~p~n", [Sum]),
    %% What it has is more than this, and is copied when the messages have filled what is free.
    io:format("schedulers are free ~p~n", [copied_by_schedulers() - Before < ?ELEMENTS]).

%% Builds nothing.
take(0, Sum) -> Sum;
take(Left, Sum) -> receive {N, _} -> take(Left - 1, Sum + N) end.

%% Words that collections copied on schedulers that others wait for. With one heap for all, all wait anyway; stock does not tell.
copied_by_schedulers() ->
    case code:ensure_loaded(heddle_stats) of
        {module, M} ->
            case erlang:system_info(heap_type) of
                shared -> 0;
                _ -> lists:sum([maps:get(words_copied, M:gc(Id)) || Id <- lists:seq(1, erlang:system_info(schedulers))])
            end;
        _ -> 0
    end.
