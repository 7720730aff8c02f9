%% String functions on lists and binaries.
-module(strings).
-export([main/1, group/0]).

group() -> compute.

main(_) -> bench:time(?MODULE, fun() -> lists:sum([work(N) || N <- lists:seq(1, 12000)]) end).

work(N) ->
    S = "field" ++ integer_to_list(N) ++ ", some text, and more, of it",
    length(string:tokens(string:uppercase(S), ", ")) + length(binary:split(list_to_binary(S), <<",">>, [global])).
