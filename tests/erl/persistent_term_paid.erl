%% To list all persistent terms costs by how many there are: else a process that asks again and again has no end to its slice.
-module(persistent_term_paid).
-export([main/1]).

main(_) ->
    Few = cost(),
    Keys = [{?MODULE, N} || N <- lists:seq(1, 1000)],
    [persistent_term:put(Key, Key) || Key <- Keys],
    Many = cost(),
    io:format("~p ~p~n", [Few < 4000, Many > 4000]),
    [persistent_term:erase(Key) || Key <- Keys],
    io:format("~p~n", [length([K || {{?MODULE, K}, _} <- persistent_term:get()])]).

cost() ->
    {reductions, Before} = process_info(self(), reductions),
    all(40),
    {reductions, After} = process_info(self(), reductions),
    After - Before.

all(0) -> ok;
all(N) ->
    _ = persistent_term:get(),
    all(N - 1).
