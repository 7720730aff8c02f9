%% A process sees what another one inserted, and deletes the table at once: the other had success all the same.
-module(ets_seen_then_deleted).
-export([main/1]).

main(_) ->
    [io:format("~p ~p: ~p~n", [Type, Op, lists:usort([round(Type, Op) || _ <- lists:seq(1, 60)])])
        || Type <- [set, ordered_set, bag], Op <- ops(Type)].

ops(bag) -> [insert, insert_list, insert_new, insert_new_list];
ops(_) -> ops(bag) ++ [update_element, update_counter].

round(Type, Op) ->
    T = ets:new(t, [Type, public]),
    ets:insert(T, {0, old}),
    {Pid, Monitor} = spawn_monitor(fun() -> exit({done, do(Op, T)}) end),
    delete_when_seen(T, Op),
    receive {'DOWN', Monitor, process, Pid, Reason} -> summary(Reason) end.

do(insert, T) -> ets:insert(T, {1, new});
do(insert_list, T) -> ets:insert(T, many());
do(insert_new, T) -> ets:insert_new(T, {1, new});
do(insert_new_list, T) -> ets:insert_new(T, many());
do(update_element, T) -> ets:update_element(T, 0, {2, new});
do(update_counter, T) -> ets:update_counter(T, 1, {2, 1}, {1, 0}).

many() -> [{N, new} || N <- lists:seq(1, 300)].

delete_when_seen(T, Op) ->
    case is_seen(T, Op) of
        true -> ets:delete(T);
        false -> delete_when_seen(T, Op)
    end.

is_seen(T, update_element) -> ets:lookup(T, 0) =:= [{0, new}];
is_seen(T, Op) when Op =:= insert_list; Op =:= insert_new_list -> ets:info(T, size) =:= 301;
is_seen(T, _) -> ets:info(T, size) =:= 2.

summary({{badarg, _}, [{ets, F, _, _} | _]}) -> {badarg, F};
summary({badarg, [{ets, F, _, _} | _]}) -> {badarg, F};
summary(Other) -> Other.
