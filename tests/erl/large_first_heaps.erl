%% Many processes at a time that ask for a large heap (64 Mi words each, 20 GiB in all), of which they use little.
-module(large_first_heaps).
-export([main/1]).

main(_) ->
    Me = self(),
    Start = fun(N) ->
        spawn_opt(fun() -> erlang:garbage_collect(), Me ! {self(), N}, receive go -> ok end, exit(lists:sum(lists:seq(1, N))) end,
                  [monitor, {min_heap_size, 1 bsl 26}])
    end,
    Started = [Start(N) || N <- lists:seq(1, 40)],
    [receive {Pid, _} -> ok end || {Pid, _} <- Started],
    [Pid ! go || {Pid, _} <- Started],
    io:format("~w~n", [[receive {'DOWN', Ref, process, Pid, Sum} -> Sum end || {Pid, Ref} <- Started]]).
