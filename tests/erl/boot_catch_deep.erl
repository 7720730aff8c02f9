%% An exception through a thousand frames.
-module(boot_catch_deep).
-export([main/1]).

main(_) ->
    erlang:display(catch down(1000)),
    erlang:display(try down(10) catch throw:X -> {caught, X} end),
    {'EXIT', {R, _}} = (catch bad(100)),
    erlang:display(R).
down(0) -> throw(bottom);
down(N) -> [down(N - 1)].
bad(0) -> hd([]) + 1;
bad(N) -> 1 + bad(N - 1).
