%% A process whose natives make more than its small heap has room for gets a larger one, and is not collected at each of them.
-module(gc_overflowing_natives).
-export([main/1]).

main(_) ->
    [io:format("~s ~p~n", [Name, is_seldom(Make)]) || {Name, Make} <- makers()].

makers() ->
    Deep = fun() -> catch deep(8) end,
    Text = binary:copy(<<"x">>, 150),
    [{"stack traces", Deep}, {"lists of bytes", fun() -> binary_to_list(Text) end}, {"tuples", fun() -> erlang:make_tuple(200, x) end}].

deep(0) -> error(deep);
deep(N) -> [deep(N - 1)].

is_seldom(Make) ->
    Self = self(),
    {_, Ref} = spawn_monitor(fun() ->
        {Before, _, _} = erlang:statistics(garbage_collection),
        repeat(Make, 20000),
        {After, _, _} = erlang:statistics(garbage_collection),
        Self ! {collections, After - Before}
    end),
    receive {'DOWN', Ref, process, _, normal} -> ok end,
    receive {collections, N} -> N < 4000 orelse os:getenv("HEDDLE_ZEAL") =/= false orelse N end.

repeat(_, 0) -> ok;
repeat(Make, N) -> Make(), repeat(Make, N - 1).
