%% A node that gets its name from the first node that it connects to.
-module(dist_dynamic_name).
-export([main/1, connect/1]).

main(_) ->
    {ok, _} = net_kernel:start([list_to_atom("dist_dynamic" ++ os:getpid()), shortnames]),
    ok = net_kernel:monitor_nodes(true, [connection_id, {node_type, all}]),
    {ok, Peer, _} = peer:start_link(#{connection => standard_io, args => ["-pa", filename:dirname(code:which(?MODULE)), "-sname", "undefined", "-setcookie", atom_to_list(erlang:get_cookie())]}),
    t:w(before, [peer:call(Peer, erlang, node, []), peer:call(Peer, erlang, is_alive, []), peer:call(Peer, net_kernel, get_state, [])]),
    {Reference, Pid} = peer:call(Peer, ?MODULE, connect, [node()]),
    Node = peer:call(Peer, erlang, node, []),
    t:w(named, [Node =/= nonode@nohost, peer:call(Peer, erlang, is_alive, []), no_name(peer:call(Peer, net_kernel, get_state, []))]),
    t:w(up, receive {nodeup, Node, Info} -> maps:keys(maps:from_list(Info)) after 10000 -> none end),
    t:w(nodes, [nodes(), nodes(hidden) =:= [Node], nodes(connected) =:= [Node]]),
    t:w(seen, [node(Pid) =:= Node, erpc:call(Node, erlang, is_process_alive, [Pid]), peer:call(Peer, erlang, node, [Pid]) =:= Node, node(Reference) =:= Node]),
    t:w(same, peer:call(Peer, erlang, is_process_alive, [Pid])),
    Monitor = monitor(process, Pid),
    true = net_kernel:disconnect(Node),
    t:w(down, receive {'DOWN', Monitor, process, Pid, Reason} -> Reason after 10000 -> none end),
    t:w(nodedown, receive {nodedown, Node, _} -> yes after 10000 -> none end),
    %% Without a connection it has no name, and what it sent meant a node that is gone.
    t:w('after', [nameless(Peer, 200), peer:call(Peer, erlang, is_alive, [])]),
    %% The node that gave the name gives it again.
    {_, Again} = peer:call(Peer, ?MODULE, connect, [node()]),
    t:w(again, [peer:call(Peer, erlang, node, []) =:= Node, node(Again) =:= Node, erpc:call(Node, erlang, is_process_alive, [Again])]),
    t:w(gone, receive_down(monitor(process, Pid))),
    peer:stop(Peer).

connect(Node) ->
    Reference = make_ref(),
    Pid = spawn(fun() -> receive stop -> ok end end),
    true = net_kernel:connect_node(Node),
    {Reference, Pid}.

nameless(_, 0) -> never;
nameless(Peer, Tries) ->
    case peer:call(Peer, erlang, node, []) of
        nonode@nohost -> nameless;
        _ -> timer:sleep(50), nameless(Peer, Tries - 1)
    end.

receive_down(Monitor) ->
    receive {'DOWN', Monitor, process, _, Reason} -> Reason after 10000 -> none end.

no_name(State) ->
    maps:remove(name, State).
