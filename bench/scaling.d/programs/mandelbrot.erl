%% The Mandelbrot set, up to 255 iterations a point: every process computes an image of its own, as in the study.
-module(mandelbrot).
-export([prepare/2, run/1, check/2]).

-define(LIMIT, 255).
-define(SIDE, 50).

prepare(_, Scale) -> scaling:times(240, Scale).

run(Processes) ->
    Main = self(),
    scaling:collect([spawn_link(fun() -> Main ! {self(), image()} end) || _ <- lists:seq(1, Processes)]).

%% One image more, and a point that is known: the origin never leaves.
check(Processes, Result) -> Result =:= lists:duplicate(Processes, image()) andalso point(0.0, 0.0) =:= ?LIMIT.

image() -> row(0, 1).

row(?SIDE, Sum) -> Sum;
row(Y, Sum) -> row(Y + 1, column(0, Y * 2.5 / ?SIDE - 1.25, Sum)).

column(?SIDE, _, Sum) -> Sum;
column(X, Im, Sum) -> column(X + 1, Im, (Sum * 31 + point(X * 3.0 / ?SIDE - 2.0, Im)) rem 1000000007).

point(Cr, Ci) -> iterate(Cr, Ci, 0.0, 0.0, 0).

iterate(_, _, _, _, ?LIMIT) -> ?LIMIT;
iterate(Cr, Ci, Zr, Zi, N) ->
    R = Zr * Zr,
    I = Zi * Zi,
    if
        R + I > 4.0 -> N;
        true -> iterate(Cr, Ci, R - I + Cr, 2.0 * Zr * Zi + Ci, N + 1)
    end.
