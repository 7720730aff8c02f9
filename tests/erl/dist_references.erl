%% What node_and_dist_references says of links and monitors with another node, of tables, and of the connection.
-module(dist_references).
-export([main/1]).

main(_) ->
    erts_debug:set_internal_state(available_internal_state, true),
    {ok, _} = net_kernel:start([name(), shortnames]),
    {Erl, First} = t:emulator(),
    {ok, Peer, Node} = peer:start_link(#{name => peer:random_name(dist_references), connection => standard_io, exec => {Erl, First},
                                         args => ["-pa", filename:dirname(code:which(?MODULE)), "-setcookie", atom_to_list(erlang:get_cookie())]}),
    pong = net_adm:ping(Node),
    Creation = peer:call(Peer, erlang, system_info, [creation]),
    Self = self(),
    Local = spawn_link(fun() -> relay(Self) end),
    Remote = spawn(Node, fun() -> receive stop -> ok end end),
    Count = fun() -> counts(Local, {Node, Creation}) end,
    t:w(nothing, Count()),
    do(Local, fun() -> link(Remote) end),
    t:w(a_link, Count()),
    Monitor = do(Local, fun() -> monitor(process, Remote) end),
    t:w(a_monitor, Count()),
    Watcher = spawn(Node, fun() -> monitor(process, Local), Self ! monitors, receive stop -> ok end end),
    receive monitors -> ok end,
    t:w(monitored, Count()),
    do(Local, fun() -> demonitor(Monitor), unlink(Remote) end),
    Watcher ! stop,
    t:wait_until(fun() -> Count() =:= [] end),
    t:w(no_more, Count()),
    {{node_references, _}, {dist_references, Dist}} = erts_debug:get_internal_state(node_and_dist_references),
    {Node, _, Referrers} = lists:keyfind(Node, 1, Dist),
    t:w(control, [N || {{Kind, Carrier}, Kinds} <- Referrers, Kind =:= port andalso is_port(Carrier), {control, N} <- Kinds]),
    peer:stop(Peer),
    net_kernel:stop().

name() -> list_to_atom("dist_references_" ++ os:getpid()).

relay(To) ->
    receive {do, Fun} -> To ! {done, Fun()}, relay(To) end.

do(Pid, Fun) ->
    Pid ! {do, Fun},
    receive {done, Result} -> Result end.

%% The references of a process to a node. The process itself is not running then.
counts(Pid, Node) ->
    t:wait_until(fun() -> process_info(Pid, status) =:= {status, waiting} end),
    {{node_references, Nodes}, _} = erts_debug:get_internal_state(node_and_dist_references),
    case lists:keyfind(Node, 1, Nodes) of
        {Node, _, Referrers} ->
            lists:sort([{Kind, N} || {{process, P}, Kinds} <- Referrers, P =:= Pid, {Kind, N} <- Kinds, Kind =:= link orelse Kind =:= monitor]);
        false -> []
    end.
