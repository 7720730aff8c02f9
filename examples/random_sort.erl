%% Processes that make a long list of random integers, sort it, split it, and answer with the middle value.
%% Args: PROCESSES LENGTH.
-module(random_sort).
-export([main/1]).

main(Args) ->
    [Processes, Length] = case Args of
                              [] -> [8, 100000];
                              [P] -> [list_to_integer(P), 100000];
                              [P, L | _] -> [list_to_integer(P), list_to_integer(L)]
                          end,
    Main = self(),
    Pids = [spawn_link(fun() -> Main ! {self(), median(Seed, Length)} end) || Seed <- lists:seq(1, Processes)],
    Sum = lists:foldl(fun(Pid, Acc) -> receive {Pid, Middle} -> (Acc * 31 + Middle) rem 1000000007 end end, 0, Pids),
    io:format("random_sort: ~w~n", [Sum]).

median(Seed, Length) ->
    {_, Right} = lists:split(Length div 2, lists:sort(numbers(Seed * 7919, Length, []))),
    hd(Right).

%% A generator of our own: the result must not depend on a library's.
numbers(_, 0, Acc) -> Acc;
numbers(State, N, Acc) ->
    Next = (State * 1103515245 + 12345) band 16#7fffffff,
    numbers(Next, N - 1, [Next bsr 4 | Acc]).
