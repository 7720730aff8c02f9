%% The orbit of examples/orbit.erl, in a table spread over workers.
%%
%% Several small orbits, one after the other: in a large one the message queues grow so long that collecting them is all that is
%% measured.
-module(orbits).
-export([prepare/2, run/1, check/2]).

-define(WORKERS, 32).
-define(SPACE, 6000).

prepare(_, Scale) -> scaling:times(80, Scale).

run(Orbits) ->
    Main = self(),
    [Result] = scaling:collect([spawn_link(fun() -> Main ! {self(), [orbit:orbit(?SPACE + N, ?WORKERS) || N <- lists:seq(1, Orbits)]} end)]),
    Result.

%% The same sets, found by one process.
check(Orbits, Result) -> Result =:= [alone(?SPACE + N) || N <- lists:seq(1, Orbits)].

alone(Space) ->
    Seen = closure([1], Space, #{1 => true}),
    {map_size(Seen), lists:sum(maps:keys(Seen))}.

closure([], _, Seen) -> Seen;
closure([X | Rest], Space, Seen) ->
    New = lists:usort([Y || Y <- orbit:generate(X, Space), not is_map_key(Y, Seen)]),
    closure(New ++ Rest, Space, lists:foldl(fun(Y, S) -> S#{Y => true} end, Seen, New)).
