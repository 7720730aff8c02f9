%% A packet format taken apart by matching.
-module(binary_parse).
-export([main/1, group/0]).

group() -> compute.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    B = << <<(N rem 7 + 1), N:24, 0:(8 * (N rem 7 + 1))>> || N <- lists:seq(1, 600000) >>, parse(B, 0).

parse(<<L, N:24, _:L/binary, Rest/binary>>, A) -> parse(Rest, A + N);
parse(<<>>, A) -> A.
