%% lists:reverse/1,2 of lists that take several slices, proper and improper, with tails of any kind, while the process is collected.
-module(big_lists_reverse).
-export([main/1]).

main(_) ->
    [io:format("~w ~w~n", [N, check(N)]) || N <- [31999, 32000, 32001, 64000, 64001, 200000]],
    [io:format("~w ~w~n", [N, improper(N)]) || N <- [1, 31999, 32000, 32001, 64000, 100000]].

check(N) ->
    List = [{I} || I <- lists:seq(1, N)],
    Reversed = lists:reverse(List),
    Tail = lists:reverse(List, tail),
    {hd(Reversed), length(Reversed), lists:reverse(Reversed) =:= List, hd(Tail), last(Tail), lists:nth(N div 2, Tail) =:= lists:nth(N div 2, Reversed)}.

last([_ | Rest]) -> last(Rest);
last(End) -> End.

improper(N) ->
    List = lists:reverse(lists:seq(1, N), end_of_list),
    try lists:reverse(List, [tail]) catch
        error:Reason:Stack -> {M, F, Args, _} = hd(Stack), {Reason, M, F, is_list(Args) andalso {hd(Args) =:= List, tl(Args)}}
    end.
