%% Rounds of names: global, pg, and names of the other node.
-module(cluster_names).
-export([rounds/0, members/2]).
-import(cluster_chance, [some/1, once_in/1, pick/1, sample/2]).
-import(cluster_round, [peer/0, name/0, worker/0, child/0, ask/2, tell/2, end_of/1, watch/1, down/3, right/3]).

%% A scope of pg.
-define(SCOPE, cluster).
%% How long a global name is waited for in a time of faults, in ms.
-define(STORM_MS, 5000).

rounds() -> [{global, fun global/0}, {pg, fun pg/0}, {registered, fun with_name/0}].

%% A name that no other round uses, of a process here or there, seen from both nodes.
global() ->
    Name = {name(), node()},
    Holder = pick([worker(), child()]),
    agreed(yes, global:register_name(Name, Holder)),
    has_name(Name, Holder),
    agreed(no, global:register_name(Name, child())),
    Ref = make_ref(),
    ask(worker(), {call, global, send, [Name, {ask, self(), Ref, echo}]}),
    cluster_round:await({answer, Ref}),
    case some(3) of
        1 -> global:unregister_name(Name);
        2 -> M = watch(Holder), down(M, Holder, end_of(Holder));
        3 ->
            Next = pick([worker(), child()]),
            agreed(yes, global:re_register_name(Name, Next)),
            has_name(Name, Next),
            global:unregister_name(Name)
    end,
    has_name(Name, undefined).

has_name(Name, P) -> agreed(yes, seen(P, ms(), global, whereis_name, [Name])).

%% Where connections come and go, global may lose names and wait forever (erlang/otp issues 6524 and 9112), so only a calm phase is strict.
agreed(Expected, Expected) -> ok;
agreed(Expected, Found) ->
    persistent_term:get(cluster_calm) andalso right(global, Expected, Found),
    cluster_book:count(global_disagreed),
    throw(lost).

ms() -> case persistent_term:get(cluster_calm) of true -> cluster_round:patience(); false -> ?STORM_MS end.

%% yes if both nodes see it in the end.
seen(Expected, Ms, M, F, Args) ->
    Until = erlang:monotonic_time(millisecond) + Ms,
    seen([fun() -> apply(M, F, Args) end, fun() -> rpc:call(peer(), M, F, Args) end], Expected, Until).

seen([], _, _) -> cluster_book:count(names_seen), yes;
seen([Look | Others] = Looks, Expected, Until) ->
    case Look() of
        Expected -> seen(Others, Expected, Until);
        Found ->
            cluster_round:is_steady() orelse throw(lost),
            case erlang:monotonic_time(millisecond) > Until of
                true -> {expected, Expected, found, Found};
                false -> receive after 20 -> seen(Looks, Expected, Until) end
            end
    end.

pg() ->
    Group = {name(), node()},
    Members = [pick([child(), child()]) || _ <- lists:seq(1, some(4))],
    Joined = Members ++ sample(some(2), Members),
    [ok = pg:join(?SCOPE, Group, P) || P <- Joined],
    has(Group, Joined),
    [Leaving | Left] = Joined,
    case once_in(2) of
        true -> ok = pg:leave(?SCOPE, Group, Leaving), has(Group, Left);
        false -> M = watch(Leaving), down(M, Leaving, end_of(Leaving)), has(Group, [P || P <- Joined, P =/= Leaving])
    end,
    Ended = lists:usort(Joined),
    [tell(P, {exit, normal}) || P <- Ended],
    has(Group, []).

has(Group, Ps) -> right(pg, yes, seen(lists:sort(Ps), cluster_round:patience(), ?MODULE, members, [?SCOPE, Group])).

%% Asked here and on the other node.
members(Scope, Group) -> lists:sort(pg:get_members(Scope, Group)).

%% A name of the other node: messages go to the process that has it when they arrive.
with_name() ->
    [A, B] = [worker(), worker()],
    To = {name(), peer()},
    true = ask(A, {call, cluster_worker, take_name, [name()]}),
    To ! {note, 1},
    right(order, [{note, 1}], ask(A, {seen, 1})),
    true = ask(A, {call, erlang, unregister, [name()]}),
    To ! {note, 2},
    true = ask(B, {call, cluster_worker, take_name, [name()]}),
    To ! {note, 3},
    right(order, [{note, 3}], ask(B, {seen, 1})),
    right(order, [], ask(A, {seen, 0})),
    right(name, B, rpc:call(peer(), erlang, whereis, [name()])).
