%% Text assembled as nested lists and flattened.
-module(iolist).
-export([main/1, group/0]).

group() -> compute.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    lists:sum([iolist_size(iolist_to_binary([[integer_to_list(N), $:, <<"value">>, [$,, [N rem 10 + $0]]] || N <- lists:seq(1, 1000)])) || _ <- lists:seq(1, 400)]).
