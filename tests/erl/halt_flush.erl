%% Output written just before halt is not lost.
-module(halt_flush).
-export([main/1]).

main(_) -> [io:format("line ~w~n", [N]) || N <- lists:seq(1, 2000)], halt(0).
