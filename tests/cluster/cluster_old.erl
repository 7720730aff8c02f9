%% Pids and aliases of earlier lives of the other nodes, and rounds that use them: nothing of that may lead to a process of the new node.
-module(cluster_old).
-export([rounds/0, start/0, came/1, creation/1, whose/1]).
-import(cluster_chance, [once_in/1, pick/1, sample/2]).
-import(cluster_round, [peer/0, watch/1, tie/1, untie/1, down/3, gone/2]).

%% How many of a node are kept.
-define(KEPT, 40).
%% Processes that each node starts at about the same time of its life, so their numbers are used again.
-define(NAMES, [?MODULE, cluster_echo, cluster_holder, cluster_keeper, cluster_calls, cluster_connections, cluster_stream_1, cluster_stream_2]).

rounds() -> [{old_pids, fun old/0}].

%% Keeps what others are, and what they were.
start() ->
    register(?MODULE, self()),
    ?MODULE = ets:new(?MODULE, [named_table, protected]),
    ok = net_kernel:monitor_nodes(true),
    [ask(Node) || Node <- nodes()],
    loop(alias()).

loop(Alias) ->
    receive
        {nodeup, Node} -> ask(Node), loop(Alias);
        {nodedown, _} -> loop(Alias);
        {what_are_you, P} ->
            Ps = [Q || Name <- ?NAMES, Q <- [whereis(Name)], is_pid(Q)],
            P ! {we_are, node(), creation(self()), [Alias | Ps]},
            loop(Alias);
        {we_are, Node, Creation, Those} -> keep(Node, Creation, Those), loop(Alias);
        {stale, _, _} = Message -> came(Message), loop(Alias);
        {ask_again, Node} -> {?MODULE, Node} ! {what_are_you, self()}, loop(Alias)
    end.

%% Now and a little later, when a new node has all its processes.
ask(Node) ->
    {?MODULE, Node} ! {what_are_you, self()},
    erlang:send_after(1000, self(), {ask_again, Node}).

keep(Node, Creation, Those) ->
    case ets:lookup(?MODULE, Node) of
        [{_, Creation, _, Old}] -> ets:insert(?MODULE, {Node, Creation, Those, Old});
        [{_, _, Before, Old}] -> ets:insert(?MODULE, {Node, Creation, Those, lists:sublist(Before ++ Old, ?KEPT)});
        [] -> ets:insert(?MODULE, {Node, Creation, Those, []})
    end.

%% The number of the life of the node that made a pid or reference: the last 32 bits of it in the external format.
creation(P) when is_pid(P) ->
    Bytes = term_to_binary(P),
    binary:decode_unsigned(binary:part(Bytes, byte_size(Bytes), -4)).

%% What a pid is, in the same words on each node.
whose(undefined) -> undefined;
whose(P) -> {node(P), erlang:phash2(P), creation(P)}.

%% A process got what was sent to an old pid.
came({stale, To, From}) -> cluster_book:broken(creation, {no_message_of, From}, {stale, To, self()}).

old() ->
    case ets:lookup(?MODULE, peer()) of
        [{_, _, _, [_ | _] = Old}] -> [use(Of) || Of <- sample(5, Old)];
        _ -> ok
    end.

use(P) ->
    P ! {stale, P, self()},
    cluster_book:count(old_pids),
    is_pid(P) andalso use_pid(P).

use_pid(P) ->
    exit(P, pick([kill, {cluster, stale}])),
    M = watch(P),
    Tied = once_in(2),
    Tied andalso tie(P),
    once_in(4) andalso group_leader(self(), P),
    down(M, P, noproc),
    Tied andalso gone(P, noproc),
    once_in(2) andalso begin tie(P), untie(P) end.
