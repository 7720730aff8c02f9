%% Rounds of a lock of global, and the keeper, a process of the first node that knows which processes are inside of it.
-module(cluster_lock).
-export([rounds/0, keeper/0]).
-import(cluster_chance, [some/1]).
-import(cluster_round, [peer/0, right/3]).

rounds() -> [{global_lock, fun lock/0}].

%% One at a time is inside. With parts of the cluster apart that cannot be, so then it is only tried.
lock() ->
    Id = {cluster_lock, self()},
    case persistent_term:get(cluster_calm) of
        true ->
            [Keeper | _] = lists:sort([node() | nodes()]),
            Before = all(),
            Result = global:trans(Id, fun() -> inside(Keeper) end),
            %% A connection may still go after a time of faults: global takes nodes apart that do not see the same others.
            Before =:= all() orelse throw(lost),
            right(global_lock, alone, Result);
        false ->
            case global:set_lock(Id, [node(), peer()], 2) of
                true -> global:del_lock(Id, [node(), peer()]);
                false -> ok
            end
    end,
    cluster_book:count(locks).

all() -> lists:sort(nodes(connected, #{connection_id => true})).

%% Says at the keeper, a process of the first node, that it enters and leaves.
inside(Keeper) ->
    Alone = gen(Keeper, enter),
    receive after some(3) - 1 -> ok end,
    gen(Keeper, leave),
    Alone.

gen(Keeper, What) ->
    Ref = make_ref(),
    {cluster_keeper, Keeper} ! {What, self(), Ref},
    receive {Ref, Answer} -> Answer after cluster_round:patience() -> no_answer end.

%% The process that knows which others are inside the lock.
keeper() ->
    register(cluster_keeper, self()),
    keeper([]).

keeper(Inside) ->
    receive
        {enter, P, Ref} -> P ! {Ref, case Inside of [] -> alone; _ -> {beside, Inside} end}, keeper([P | Inside]);
        {leave, P, Ref} -> P ! {Ref, left}, keeper(lists:delete(P, Inside));
        {stale, _, _} = Message -> cluster_old:came(Message), keeper(Inside);
        %% A process that died inside, in a time of faults.
        forget -> keeper([])
    end.
