%% Random: every process makes a list of 100,000 random integers, sorts it, splits it in two, and answers with the first
%% element of the second half. It wants memory more than anything else.
-module(random_sort).
-export([prepare/2, run/1, check/2]).

-define(LENGTH, 100000).

prepare(_, Scale) -> scaling:times(24, Scale).

run(Processes) ->
    Main = self(),
    scaling:collect([spawn_link(fun() -> Main ! {self(), middle(Seed)} end) || Seed <- lists:seq(1, Processes)]).

%% As many numbers below as the first half has, without sorting.
check(Processes, Result) ->
    length(Result) =:= Processes andalso lists:all(fun({Seed, Middle}) -> is_middle(Middle, numbers(Seed)) end, lists:enumerate(Result)).

middle(Seed) ->
    {_, [Middle | _]} = lists:split(?LENGTH div 2, lists:sort(numbers(Seed))),
    Middle.

numbers(Seed) -> numbers(Seed * 7919, ?LENGTH, []).

numbers(_, 0, List) -> List;
numbers(State, N, List) ->
    Next = scaling:lcg(State),
    numbers(Next, N - 1, [Next bsr 4 | List]).

is_middle(Middle, Numbers) ->
    Below = length([x || N <- Numbers, N < Middle]),
    Same = length([x || N <- Numbers, N =:= Middle]),
    Below =< ?LENGTH div 2 andalso ?LENGTH div 2 < Below + Same.
