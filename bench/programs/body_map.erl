%% Body-recursive map and filter.
-module(body_map).
-export([main/1, group/0]).

group() -> compute.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    lists:sum([length(filter(map(lists:seq(1, 1000)))) || _ <- lists:seq(1, 3000)]).

map([]) -> [];
map([H | T]) -> [H * 2 + 1 | map(T)].

filter([]) -> [];
filter([H | T]) when H rem 3 =:= 0 -> [H | filter(T)];
filter([_ | T]) -> filter(T).
