%% Factorials: large integer multiplication and text.
-module(bignum_factorial).
-export([main/1, group/0]).

group() -> compute.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    length(integer_to_list(lists:foldl(fun(N, A) -> N * A end, 1, lists:seq(1, 12000)))).
