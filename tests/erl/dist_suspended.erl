%% Messages of another node that come while their receiver is suspended: one that is no term counts as a message until it is looked at, then it
%% leaves the queue and its connection ends, with no effect on a later one.
-module(dist_suspended).
-export([main/1]).

main(_) ->
    logger:set_primary_config(level, none),
    {ok, _} = net_kernel:start([list_to_atom("dist_suspended" ++ os:getpid()), shortnames]),
    {ok, Peer, Node} = peer:start_link(#{
        name => peer:random_name(),
        connection => standard_io,
        args => ["-pa", filename:dirname(code:which(?MODULE)), "-connect_all", "false", "-kernel", "logger_level", "none"]
    }),
    [begin io:format("~p~n", [How]), try_it(Peer, Node, How) end || How <- [resume, messages, total_heap_size, new_connection]],
    peer:stop(Peer).

try_it(Peer, Node, How) ->
    P = spawn_link(fun() -> receive Any -> loop([Any]) end end),
    pong = net_adm:ping(Node),
    erlang:suspend_process(P),
    send(Peer, P, [{term, early}, bad, {term, {lists:seq(1, 100), <<0:8000>>, self()}}]),
    P ! {mine, make_ref()},
    send(Peer, P, [bad, {term, late}, bad]),
    io:format("suspended: ~p ~p~n", [process_info(P, message_queue_len), is_up(Node)]),
    monitor_node(Node, true),
    case How of
        resume -> ok;
        messages ->
            [{message_queue_len, Count}, {messages, Messages}] = process_info(P, [message_queue_len, messages]),
            io:format("looked at: ~p ~p~n", [Count, shapes(Messages)]);
        total_heap_size -> process_info(P, total_heap_size);
        new_connection ->
            disconnect_node(Node),
            receive {nodedown, Node} -> ok end,
            pong = net_adm:ping(Node),
            io:format("again: ~p~n", [process_info(P, message_queue_len)])
    end,
    erlang:resume_process(P),
    case How of
        new_connection -> ok;
        _ -> receive {nodedown, Node} -> io:format("connection ended~n") end
    end,
    P ! {done, self()},
    receive {P, All} -> io:format("received: ~p~n", [shapes(All)]) end,
    io:format("up: ~p~n", [is_up(Node)]).

is_up(Node) ->
    lists:member(Node, nodes()).

loop([{done, To} | All]) ->
    To ! {self(), lists:reverse(All)};
loop(All) ->
    receive Any -> loop([Any | All]) end.

shapes(Messages) ->
    [case M of {mine, _} -> mine; {List, Bin, Pid} -> {length(List), byte_size(Bin), is_pid(Pid)}; _ -> M end || M <- Messages].

%% All has been handled when the answer to the ping is there.
send(Peer, To, Messages) ->
    Me = node(),
    ok = peer:call(Peer, erlang, apply, [fun post/3, [Me, To, Messages]]),
    pong = net_adm:ping(peer_of(Peer)).

peer_of(Peer) ->
    peer:call(Peer, erlang, node, []).

post(Node, To, Messages) ->
    catch erts_debug:set_internal_state(available_internal_state, true),
    Port = erts_debug:get_internal_state({dist_ctrl, Node}),
    [ok = prim_inet:send(Port, [131, $D, 0, ext({2, '', To}), payload(Message)]) || Message <- Messages],
    ok.

payload(bad) -> [$?, 66];
payload({term, Term}) -> ext(Term).

ext(Term) ->
    <<131, Ext/binary>> = term_to_binary(Term),
    Ext.
