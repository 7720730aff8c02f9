%% Small and large maps: update, insert, look up.
-module(map_update).
-export([main/1, group/0]).

group() -> compute.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    {small(500000, #{a => 0, b => 0, c => 0}), maps:size(large(150000, #{}))}.

small(0, #{a := A}) -> A;
small(N, #{a := A} = M) -> small(N - 1, M#{a := A + 1, b => N}).

large(0, M) -> M;
large(N, M) -> K = N * 7919 rem 50021, large(N - 1, M#{K => maps:get(K, M, 0) + 1}).
