%% Float arithmetic in registers.
-module(mandel).
-export([main/1, group/0]).

group() -> compute.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    lists:sum([point(X / 100 - 2.0, Y / 100 - 1.0, 0.0, 0.0, 0) || X <- lists:seq(0, 249), Y <- lists:seq(0, 199)]).

point(_, _, _, _, 255) -> 255;
point(Cr, Ci, Zr, Zi, N) ->
    R = Zr * Zr, I = Zi * Zi,
    if R + I > 4.0 -> N; true -> point(Cr, Ci, R - I + Cr, 2.0 * Zr * Zi + Ci, N + 1) end.
