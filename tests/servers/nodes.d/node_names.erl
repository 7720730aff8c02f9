%% Which nodes see each other, and what is told when one comes or ends.
-module(node_names).
-export([connect/1, expect/1, told/1, hidden/1, listening/0]).
-import(node_server, [check/2, check/3, until/2, next/1]).

-define(KINDS, [{node_type, all}, nodedown_reason, connection_id]).

connect(Far) ->
    check("net_adm:ping", pong, fun() -> net_adm:ping(Far) end),
    check("it sees the other node", [Far], fun() -> nodes() end),
    check("the other node sees it", [node()], fun() -> until([node()], fun() -> rpc:call(Far, erlang, nodes, []) end) end),
    check("net_adm:names", fun() ->
        {ok, Names} = net_adm:names(localhost),
        [] =:= [hd(string:split(atom_to_list(Node), "@")) || Node <- [node(), Far]] -- [Name || {Name, _} <- Names]
    end),
    check("a node that is not there does not answer", pang, fun() -> net_adm:ping(none@localhost) end),
    check("disconnect_node", {true, []}, fun() -> {erlang:disconnect_node(Far), nodes()} end),
    check("connect_node", {true, [Far]}, fun() -> {net_kernel:connect_node(Far), nodes()} end).

%% Begins to watch a node that is started soon.
expect(Far) ->
    net_kernel:monitor_nodes(true, ?KINDS),
    check("a third node answers", pong, fun() -> net_adm:ping(Far) end),
    check("nodeup", {Far, visible, true}, fun() ->
        receive {nodeup, Node, Info} -> {Node, value(node_type, Info), is_integer(value(connection_id, Info))} after 5000 -> none end
    end),
    erlang:monitor_node(Far, true),
    monitor(process, {net_kernel, Far}),
    link(rpc:call(Far, node_server, silent, [])).

%% What is told of a node that was killed, and then nothing more.
told(Far) ->
    Wanted = [{'DOWN', noconnection}, {'EXIT', noconnection}, {monitor_node, Far}, {nodedown, Far, connection_closed}],
    check("after kill -9: nodedown from net_kernel and from monitor_node, DOWN, EXIT, each one time", Wanted, fun() -> lists:sort([shorter(next(10000)) || _ <- Wanted]) end),
    check("and nothing more", none, fun() -> next(200) end),
    net_kernel:monitor_nodes(false, ?KINDS).

shorter({'DOWN', _, process, _, Reason}) -> {'DOWN', Reason};
shorter({'EXIT', _, Reason}) -> {'EXIT', Reason};
shorter({nodedown, Node}) -> {monitor_node, Node};
shorter({nodedown, Node, Info}) -> {nodedown, Node, value(nodedown_reason, Info)};
shorter(Other) -> Other.

value(Key, Info) when is_map(Info) -> maps:get(Key, Info, none);
value(Key, Info) -> proplists:get_value(Key, Info).

hidden(Far) ->
    check("a hidden node answers", pong, fun() -> net_adm:ping(Far) end),
    check("it is among nodes(hidden) and nodes(connected) alone", {false, [Far], true}, fun() ->
        {lists:member(Far, nodes()), nodes(hidden), lists:member(Far, nodes(connected))}
    end),
    check("it sees its peer as hidden", {[], [node()]}, fun() -> {rpc:call(Far, erlang, nodes, []), rpc:call(Far, erlang, nodes, [hidden])} end).

%% What kernel's parameters for the socket that listens have done (see names.py).
listening() ->
    [Short | _] = string:split(atom_to_list(node()), "@"),
    {port, Port, _} = erl_epmd:port_please(Short, {127, 0, 0, 1}),
    check("the port is between inet_dist_listen_min and inet_dist_listen_max", fun() -> Port >= 47100 andalso Port =< 47120 end),
    [{Socket, Address}] = [{P, A} || P <- erlang:ports(), erlang:port_info(P, name) =:= {name, "tcp_inet"}, {ok, {A, Q}} <- [inet:sockname(P)], Q =:= Port],
    check("inet_dist_use_interface", {127, 0, 0, 1}, fun() -> Address end),
    check("inet_dist_listen_options", {ok, [{keepalive, true}]}, fun() -> inet:getopts(Socket, [keepalive]) end),
    check("the options that net_kernel adds", {ok, [{reuseaddr, true}, {nodelay, true}]}, fun() -> inet:getopts(Socket, [reuseaddr, nodelay]) end).
