%% The Mandelbrot set, up to 255 iterations a point, in float arithmetic; a process per row. Args: SIZE IMAGES.
-module(mandelbrot).
-export([main/1, point/2]).

-define(LIMIT, 255).

main(Args) ->
    [Size, Images] = case Args of
                         [] -> [180, 2];
                         [S] -> [list_to_integer(S), 2];
                         [S, I | _] -> [list_to_integer(S), list_to_integer(I)]
                     end,
    Main = self(),
    Rows = [spawn_link(fun() -> Main ! {self(), row(Y, Size)} end) || _ <- lists:seq(1, Images), Y <- lists:seq(0, Size - 1)],
    Sum = lists:foldl(fun(Pid, Acc) -> receive {Pid, Row} -> (Acc * 33 + Row) rem 1000000007 end end, 5381, Rows),
    io:format("mandelbrot: ~w~n", [Sum]).

row(Y, Size) ->
    Im = Y * 2.5 / Size - 1.25,
    lists:foldl(fun(X, Acc) -> (Acc * 7 + point(X * 3.0 / Size - 2.0, Im)) rem 1000003 end, 1, lists:seq(0, Size - 1)).

point(Cr, Ci) -> iterate(Cr, Ci, 0.0, 0.0, 0).

iterate(_, _, _, _, ?LIMIT) -> ?LIMIT;
iterate(Cr, Ci, Zr, Zi, N) ->
    R2 = Zr * Zr,
    I2 = Zi * Zi,
    if
        R2 + I2 > 4.0 -> N;
        true -> iterate(Cr, Ci, R2 - I2 + Cr, 2.0 * Zr * Zi + Ci, N + 1)
    end.
