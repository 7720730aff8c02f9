%% A process that makes much garbage and keeps little stays below max_heap_size, however long it runs: what died does not count, also
%% where collections found it alive. One that keeps more is ended.
-module(max_heap_garbage).
-export([main/1]).

main(_) ->
    [io:format("~p ~p~n", [Name, ended(F)]) || {Name, F} <- [{drops, fun() -> drops(100_000) end},
                                                           {replaces, fun() -> replaces(400_000, queue()) end},
                                                           {keeps, fun() -> keeps(400_000, []) end}]].

ended(F) ->
    Limit = #{size => 60_000, kill => true, error_logger => false},
    {_, Ref} = spawn_opt(fun() -> exit(F()) end, [monitor, {max_heap_size, Limit}]),
    receive {'DOWN', Ref, process, _, Reason} -> Reason end.

drops(0) -> done;
drops(N) -> drops(binary_to_term(term_to_binary(N)) - 1).

%% A hundred terms, which change: when one dies it is old.
queue() -> queue:from_list([{N, integer_to_list(N)} || N <- lists:seq(1, 100)]).

replaces(0, Queue) -> queue:len(Queue);
replaces(N, Queue) -> replaces(N - 1, queue:in({N, integer_to_list(N)}, queue:drop(Queue))).

keeps(0, Kept) -> length(Kept);
keeps(N, Kept) -> keeps(N - 1, [{N, integer_to_list(N)} | Kept]).
