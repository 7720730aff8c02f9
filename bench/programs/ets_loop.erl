%% Insert, look up, count and select in hash and ordered tables.
-module(ets_loop).
-export([main/1, group/0]).

group() -> compute.

main(_) -> bench:time(?MODULE, fun() -> lists:sum([run(Type) || Type <- [set, ordered_set]]) end).

run(Type) ->
    T = ets:new(t, [Type, public]),
    [ets:insert(T, {N * 7919 rem 50021, N}) || N <- lists:seq(1, 100000)],
    Sum = lists:sum([X || N <- lists:seq(1, 50000), {_, X} <- ets:lookup(T, N)]),
    [ets:update_counter(T, N, 1, {N, 0}) || N <- lists:seq(1, 50000)],
    Found = length(ets:select(T, [{{'$1', '$2'}, [{'<', '$2', 5000}], ['$1']}])),
    ets:delete(T),
    Sum + Found.
