%% A process of each node that checks what tells of connections: nodeup and nodedown come in turn and with the number of the connection, and
%% monitor_node/2 tells once for each time it was asked, when the connection has gone.
-module(cluster_connections).
-export([start/0]).

start() ->
    register(?MODULE, self()),
    ok = net_kernel:monitor_nodes(true, #{connection_id => true, nodedown_reason => true}),
    loop(#{}, #{}).

%% Up: #{Node => connection, or down}, of nodes that were heard of. Armed: #{Node => connection when monitor_node/2 was asked}.
loop(Up, Armed) ->
    receive
        {nodeup, Node, #{connection_id := C}} ->
            cluster_book:note({nodeup, Node, C}),
            case Up of
                #{Node := Before} when Before =/= down -> cluster_book:broken(nodedown, {nodedown, Node, Before}, {nodeup, Node, C});
                _ -> ok
            end,
            cluster_sabotage:is(nodedown) andalso (self() ! {nodedown, Node}),
            loop(Up#{Node => C}, armed(Node, Armed));
        {nodedown, Node, #{connection_id := C, nodedown_reason := Why}} ->
            cluster_book:note({nodedown, Node, C, Why}),
            cluster_book:count(nodedowns),
            case Up of
                #{Node := Before} when Before =/= C -> cluster_book:broken(nodedown, {nodedown, Node, Before}, {nodedown, Node, C});
                _ -> ok
            end,
            loop(Up#{Node => down}, Armed);
        {nodedown, Node} when is_map_key(Node, Armed) ->
            C = map_get(Node, Armed),
            % Asked when there was no connection any more (none), it tells of one that began since, or of none.
            C =:= none orelse gone(Node, C, 20) orelse cluster_book:broken(nodedown, {nothing, while_there_is, C}, {nodedown, Node}),
            Next = maps:remove(Node, Armed),
            loop(Up, case cluster_round:connection(Node) of none -> Next; _ -> armed(Node, Next) end);
        {stale, _, _} = Message -> cluster_old:came(Message), loop(Up, Armed);
        Message -> cluster_book:broken(unexpected, nothing, Message), loop(Up, Armed)
    end.

armed(Node, Armed) when is_map_key(Node, Armed) -> Armed;
armed(Node, Armed) ->
    C = cluster_round:connection(Node),
    true = monitor_node(Node, true),
    Armed#{Node => C}.

%% What tells of the end may come a little before nodes/2 shows it.
gone(_, _, 0) -> false;
gone(Node, C, N) -> cluster_round:connection(Node) =/= C orelse begin receive after 100 -> gone(Node, C, N - 1) end end.
