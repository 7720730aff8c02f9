%% A process of each node with names and groups that last. By them the tester sees that all nodes agree when they are connected again.
-module(cluster_holder).
-export([start/0, contest/0, view/0, global/0]).
-import(cluster_chance, [some/1, once_in/1]).

%% A scope of pg.
-define(SCOPE, cluster).
-define(GROUPS, [one, two, {three, 3}]).
%% Names that several parts of a cluster may register while they are apart.
-define(CONTESTED, [cluster_first, cluster_second, {cluster, third}]).

start() ->
    rand:seed(exsss, erlang:phash2(node())),
    process_flag(trap_exit, true),
    true = register(?MODULE, self()),
    [ok = pg:join(?SCOPE, Group, self()) || Group <- ?GROUPS, _ <- lists:seq(1, some(2))],
    yes = global:register_name({?MODULE, node()}, self()),
    loop().

%% Registers some of the contested names, or gives them up.
contest() -> ?MODULE ! contest.

loop() ->
    receive
        contest -> [contest(Name) || Name <- ?CONTESTED, once_in(2)], loop();
        {stale, _, _} = Message -> cluster_old:came(Message), loop();
        %% Two parts of the cluster had given a name away, and the other one keeps it.
        {global_name_conflict, _} -> loop();
        Message -> cluster_book:broken(unexpected, no_message, Message), loop()
    end.

contest(Name) ->
    case global:whereis_name(Name) of
        P when P =:= self() -> once_in(2) andalso global:unregister_name(Name);
        undefined -> global:register_name(Name, self(), fun global:random_notify_name/3);
        _ -> ok
    end.

%% What this node sees, as texts that are the same on all nodes if they agree: global names and members of groups.
view() ->
    Names = [{Name, global:whereis_name(Name)} || Name <- global:registered_names()],
    Groups = [{{group, Group}, cluster_names:members(?SCOPE, Group)} || Group <- pg:which_groups(?SCOPE)],
    Shown = #{text(Key) => text([cluster_old:whose(P) || P <- lists:flatten([Of])]) || {Key, Of} <- Names ++ Groups},
    case cluster_sabotage:is(view) of
        true -> Shown#{<<"{group,one}">> => <<"nothing">>};
        false -> Shown
    end.

%% What global knows of the other nodes and waits for, as text, to see why a name is missing.
global() ->
    [state, _, Known, Synced, Resolvers, Syncers | _] = tuple_to_list(sys:get_state(global_name_server, infinity)),
    text(#{known => Known, synced => Synced, resolvers => Resolvers, syncers => Syncers, locks => ets:tab2list(global_locks)}).

text(Term) -> unicode:characters_to_binary(io_lib:format("~0tp", [Term])).
