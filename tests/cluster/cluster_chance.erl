%% Choices by chance. A process that calls these has a seed (rand:seed/2), which follows from that of the run.
-module(cluster_chance).
-export([some/1, once_in/1, pick/1, shuffle/1, sample/2, usual/1, weighted/1, in_a_while/0]).

%% 1 to N.
some(N) -> rand:uniform(N).

%% True once in N times.
once_in(N) -> rand:uniform(N) =:= 1.

pick(List) -> lists:nth(rand:uniform(length(List)), List).

shuffle(List) -> [X || {_, X} <- lists:sort([{rand:uniform(1 bsl 30), X} || X <- List])].

sample(N, List) -> lists:sublist(shuffle(List), N).

%% A number up to N, less where the run is smaller (--size, in percent).
usual(N) -> some(max(1, N * persistent_term:get(cluster_size, 100) div 100)).

%% One of [{Weight, Value}].
weighted(Choices) -> weighted(rand:uniform(lists:sum([W || {W, _} <- Choices])), Choices).

weighted(N, [{W, Value} | _]) when N =< W -> Value;
weighted(N, [{W, _} | Others]) -> weighted(N - W, Others).

in_a_while() -> receive after rand:uniform(4) - 1 -> ok end.
