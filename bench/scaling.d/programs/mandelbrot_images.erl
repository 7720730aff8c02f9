%% Points of examples/mandelbrot.erl, up to 255 iterations each: every process computes an image of its own, as in the study.
-module(mandelbrot_images).
-export([prepare/2, run/1, check/2]).

-define(LIMIT, 255).
-define(SIDE, 50).

prepare(_, Scale) -> scaling:times(240, Scale).

run(Processes) ->
    Main = self(),
    scaling:collect([spawn_link(fun() -> Main ! {self(), image()} end) || _ <- lists:seq(1, Processes)]).

%% One image more, and a point that is known: the origin never leaves.
check(Processes, Result) -> Result =:= lists:duplicate(Processes, image()) andalso mandelbrot:point(0.0, 0.0) =:= ?LIMIT.

image() -> row(0, 1).

row(?SIDE, Sum) -> Sum;
row(Y, Sum) -> row(Y + 1, column(0, Y * 2.5 / ?SIDE - 1.25, Sum)).

column(?SIDE, _, Sum) -> Sum;
column(X, Im, Sum) -> column(X + 1, Im, (Sum * 31 + mandelbrot:point(X * 3.0 / ?SIDE - 2.0, Im)) rem 1000000007).
