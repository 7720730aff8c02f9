%% term_to_binary and back.
-module(term_binary).
-export([main/1, group/0]).

group() -> compute.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    T = [{N, [N, float(N), <<N:32>>], #{a => N}} || N <- lists:seq(1, 2000)], lists:sum([length(binary_to_term(term_to_binary(T))) || _ <- lists:seq(1, 60)]).
