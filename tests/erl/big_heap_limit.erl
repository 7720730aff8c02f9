%% A limit of more words than are walked through (1,048,576) in a shared heap: a major collection measures what lives. With private
%% heaps, blocks of twice what lives count as well, so this process would be ended there.
-module(big_heap_limit).
-export([main/1]).

main(_) ->
    io:format("lives ~p~n", [ended(fun() -> replaces(200_000, queue(47_000)) end)]),
    io:format("keeps ~p~n", [ended(fun() -> keeps(200_000, []) end)]).

ended(F) ->
    Limit = #{size => 1_200_000, kill => true, error_logger => false},
    {_, Ref} = spawn_opt(fun() -> is_shared() orelse process_flag(max_heap_size, 8_000_000), exit(F()) end, [monitor, {max_heap_size, Limit}]),
    receive {'DOWN', Ref, process, _, Reason} -> Reason end.

is_shared() -> erlang:system_info(heap_type) =:= shared.

%% 17 words an element.
queue(Length) -> queue:from_list([element(N) || N <- lists:seq(1, Length)]).

element(N) -> {N, integer_to_list(100_000 + N)}.

replaces(0, Queue) -> queue:len(Queue);
replaces(N, Queue) -> replaces(N - 1, queue:in(element(N), queue:drop(Queue))).

keeps(0, Kept) -> length(Kept);
keeps(N, Kept) -> keeps(N - 1, [element(N), lists:seq(1, 50) | Kept]).
