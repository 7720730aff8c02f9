%% Arithmetic that crosses between small and large integers in both directions.
-module(bignum_small_border).
-export([main/1]).

main(_) -> M = (1 bsl 59) - 1, N = -(1 bsl 59), t:w(cross, [X || X <- [M + 1, M + 1 - 1, N - 1, N - 1 + 1, M * 2, M * 2 div 2, -N, -(-N), abs(N), M + M, N + N, N - M, M bsl 1, (M bsl 1) bsr 1, bnot M, bnot N, M bxor N, N div -1, N rem -1, M * M div M, N * N div N]]), t:w(loop, loop(t:id(M - 5), 10)), t:w(mul, [A * B || A <- [M, N, 1 bsl 30, -(1 bsl 30)], B <- [2, -1, 1 bsl 29, 1 bsl 30]]), t:w(same, [M + 1 =:= 576460752303423488, N - 1 =:= -576460752303423489, (M + 1) - (M + 1) =:= 0, erlang:phash2((1 bsl 80) bsr 80) =:= erlang:phash2(1)]), t:w(guards, [g(X) || X <- [M, M + 1, N, N - 1]]), t:w(map, maps:get((1 bsl 70) bsr 68, #{4 => four})), t:w(float, [float(M), float(N), trunc(float(1 bsl 60)), M * 1.0, round(5.764607523034235e17)]).
loop(X, 0) -> [X]; loop(X, K) -> [X | loop(X + 1, K - 1)].
g(X) when X + 1 > 576460752303423488 -> above; g(X) when X - 1 < -576460752303423488 -> below; g(_) -> in.
