%% What collections copy counts as reductions of the process that waited for it: one that makes much garbage has no longer slices than
%% others. (In a shared heap it was its own block only, which is empty then: a slice took hundreds of collections.)
-module(heddle_paid).
-export([main/1]).

main(_) ->
    {_, Ref} = spawn_monitor(fun() -> exit(paid()) end),
    receive {'DOWN', Ref, _, _, Paid} -> io:format("~p~n", [Paid]) end.

paid() ->
    [put(N, N) || N <- lists:seq(1, 10_000)],
    Reductions = reductions(),
    #{words_copied := Before} = heddle_stats:gc(),
    work(200, []),
    #{words_copied := After} = heddle_stats:gc(),
    Copied = After - Before,
    Paid = reductions() - Reductions,
    %% A reduction for 100 words; what others' collections copied meanwhile is little. Where each slice is one call, the shared heap is
    %% collected between slices, by the thread: there is no slice to be shortened.
    IsBetween = os:getenv("HEDDLE_ZEAL") =:= "yield" andalso erlang:system_info(heap_type) =:= shared,
    case Copied >= 1_000_000 andalso (Paid >= Copied div 200 orelse IsBetween) of
        true -> {copied, paid};
        false -> {Copied, Paid}
    end.

%% A native that makes 20,000 words for one reduction; the results before are still there.
work(0, _) -> ok;
work(N, Kept) ->
    All = get_keys(),
    [_, _ | _] = All,
    work(N - 1, [All | lists:sublist(Kept, 4)]).

reductions() -> element(2, process_info(self(), reductions)).
