%% Choices, all from the process's random numbers: a program depends on its seed alone.
-module(fuzz_choice).
-export([below/1, one/1, some/2, weighted/1, chance/1, fresh/1]).

%% 0 .. N-1
below(N) -> rand:uniform(N) - 1.

one(List) -> lists:nth(rand:uniform(length(List)), List).

%% Fewer than Limit results of Make, often few.
some(Limit, Make) -> [Make() || _ <- lists:seq(1, min(below(Limit), below(Limit) + 1))].

weighted(Choices) ->
    pick(below(lists:sum([Weight || {Weight, _} <- Choices])), Choices).

pick(At, [{Weight, Make} | _]) when At < Weight -> Make();
pick(At, [{Weight, _} | Rest]) -> pick(At - Weight, Rest).

%% True in Percent of a hundred.
chance(Percent) -> below(100) < Percent.

%% A name that no other part of the program has.
fresh(Prefix) ->
    N = case get(fresh) of undefined -> 1; Last -> Last + 1 end,
    put(fresh, N),
    Prefix ++ integer_to_list(N).
