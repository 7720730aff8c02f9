%% Which node and sender a match specification for received messages sees: of messages from processes of this node and another, and of those that no process sends.
-module(dist_receive_traced).
-export([main/1, child/0, sender/0]).

main(_) ->
    {ok, _} = net_kernel:start([list_to_atom("dist_receive_traced" ++ os:getpid()), shortnames]),
    Folder = filename:dirname(code:which(?MODULE)),
    {ok, Peer, Node} = peer:start_link(#{name => peer:random_name(), args => ["-pa", Folder, "-connect_all", "false"]}),
    _ = erpc:call(Node, ?MODULE, module_info, []),
    Main = self(),
    Receiver = spawn_link(fun() -> process_flag(trap_exit, true), receiver() end),
    Remote = spawn(Node, ?MODULE, sender, []),
    register(traced_receiver, Receiver),
    1 = erlang:trace(Receiver, true, ['receive']),
    _ = erlang:trace_pattern('receive', [{['$1', '$2', '_'], [], [{message, {{'$1', '$2'}}}]}], []),
    Names = [{Main, main}, {Receiver, receiver}, {Remote, remote}, {node(), here}, {Node, there}],
    Tell = fun(Label, Action) -> t:w(Label, named(during(Receiver, Action), Names)) end,
    local(Tell, Receiver),
    of_node(Tell),
    remote(Tell, Remote, Node),
    1 = erlang:trace(Receiver, true, [procs]),
    relations(Tell, Remote, Node),
    going(Tell, Remote, Node),
    unlink(Peer),
    catch peer:stop(Peer).

receiver() ->
    receive {run, Action} -> Action(), receiver() end.

child() ->
    receive {stop, Reason} -> exit(Reason) end.

sender() ->
    receive
        {send, To, Message} -> To ! Message, sender();
        {run, Action} -> Action(), sender();
        {stop, Reason} -> exit(Reason)
    end.

%% The receiver runs the action, which ends after its messages have arrived. Returns tag, node and sender of each message.
during(Receiver, Action) ->
    Main = self(),
    Done = make_ref(),
    Receiver ! {run, fun() -> Action(), Main ! Done end},
    receive Done -> ok after 10000 -> throw({late, process_info(Receiver)}) end,
    Delivered = erlang:trace_delivered(Receiver),
    receive {trace_delivered, Receiver, Delivered} -> ok end,
    seen().

seen() ->
    receive
        {trace, _, 'receive', {run, _}, {_, _}} -> seen();
        %% The answer of a port's task.
        {trace, _, 'receive', {Request, _}, {_, _}} when is_reference(Request) -> seen();
        {trace, _, 'receive', Message, {Node, From}} -> [{tag(Message), Node, From} | seen()];
        {trace, _, 'receive', {run, _}} -> seen();
        {trace, _, Tag, Other} when Tag =/= 'receive' -> [{Tag, Other} | seen()];
        {trace, _, 'receive', Message} -> [{tag(Message), untold} | seen()]
    after 0 -> []
    end.

tag(Message) when is_tuple(Message), is_atom(element(1, Message)) -> element(1, Message);
tag({Port, {Tag, _}}) when is_port(Port) -> Tag;
tag({Port, Tag}) when is_port(Port) -> Tag;
tag(Message) -> Message.

named(Term, Names) when is_tuple(Term) -> list_to_tuple([named(E, Names) || E <- tuple_to_list(Term)]);
named(Term, Names) when is_list(Term) -> [named(E, Names) || E <- Term];
named(Term, Names) ->
    case lists:keyfind(Term, 1, Names) of
        {_, Name} -> Name;
        false when is_pid(Term), node(Term) =:= node() -> pid;
        false when is_pid(Term) -> remote_pid;
        false when is_port(Term) -> port;
        false when is_reference(Term) -> reference;
        false -> Term
    end.

take() -> receive _ -> ok after 5000 -> throw(late) end.

local(Tell, Receiver) ->
    Tell(by_itself, fun() -> self() ! hello, take() end),
    Tell(by_alias, fun() -> A = alias(), spawn(fun() -> A ! hello end), take() end),
    Tell(by_name, fun() -> spawn(fun() -> traced_receiver ! hello end), take() end),
    Tell(exit_signal, fun() -> exit(self(), why), take() end),
    Tell(exit_of_child, fun() -> P = spawn_link(?MODULE, child, []), P ! {stop, x}, take() end),
    Tell(no_process, fun() -> link(spawn(fun() -> ok end)), take() end),
    Tell(down, fun() -> {P, _} = spawn_monitor(?MODULE, child, []), P ! {stop, x}, take() end),
    Tell(down_at_once, fun() -> monitor(process, no_such_name), take() end),
    Tell(spawn_reply, fun() -> spawn_request(?MODULE, child, [], []), take() end),
    Tell(spawn_refused, fun() -> spawn_request(?MODULE, child, [], [no_option]), take() end),
    Tell(timers, fun() -> erlang:send_after(1, self(), hello), take(), erlang:start_timer(1, self(), hello), take() end),
    Tell(timer_at_once, fun() -> erlang:send_after(0, self(), hello), take() end),
    Tell(timer_of_other, fun() -> spawn(fun() -> erlang:send_after(1, Receiver, hello) end), take() end),
    Tell(timer_answers, fun() ->
        T = erlang:send_after(100000, self(), hello),
        erlang:read_timer(T, [{async, true}]), take(),
        erlang:cancel_timer(T, [{async, true}]), take() end),
    Tell(table, fun() -> Self = self(), spawn(fun() -> ets:give_away(ets:new(t, []), Self, data) end), take() end),
    Tell(table_of_heir, fun() -> Self = self(), spawn(fun() -> ets:new(t, [{heir, Self, data}]) end), take() end).

%% Messages that the VM sends.
of_node(Tell) ->
    Tell(port, fun() -> open_port({spawn, "echo hello"}, [exit_status, in, {line, 80}]), take(), take(), take() end),
    Tell(port_commands, fun() ->
        Port = open_port({spawn, "cat"}, []),
        Port ! {self(), {connect, self()}}, take(),
        Port ! {self(), close}, take(), take() end),
    Tell(collection, fun() -> garbage_collect(self(), [{async, 1}]), take() end),
    Tell(collection_of_other, fun() -> garbage_collect(whereis(init), [{async, 1}]), take() end),
    Tell(code_check, fun() -> check_process_code(whereis(init), ?MODULE, [{async, 1}]), take() end),
    Tell(delivered, fun() -> erlang:trace_delivered(self()), take() end),
    Tell(info, fun() -> process_info(whereis(init), reductions) end),
    Tell(is_alive, fun() -> is_process_alive(whereis(init)) end),
    Tell(suspended, fun() ->
        P = spawn(?MODULE, child, []),
        erlang:suspend_process(P, [{asynchronous, tag}]), take() end),
    Tell(timeout, fun() -> receive never -> ok after 1 -> ok end end),
    Tell(timeout_at_once, fun() -> receive never -> ok after 0 -> ok end end).

%% Messages that come from another node.
remote(Tell, Remote, Node) ->
    Tell(remote, fun() -> Remote ! {send, self(), hello}, take() end),
    Tell(remote_by_name, fun() -> Remote ! {send, {traced_receiver, node()}, hello}, take() end),
    Tell(remote_by_alias, fun() -> Remote ! {send, alias(), hello}, take() end),
    Tell(remote_exit_signal, fun() -> Self = self(), Remote ! {run, fun() -> exit(Self, why) end}, take() end),
    Tell(remote_spawn_reply, fun() -> spawn_request(Node, ?MODULE, child, [], []), take() end),
    Tell(remote_spawn_refused, fun() -> spawn_request(Node, ?MODULE, child, [], [no_option]), take() end),
    Tell(remote_exit_of_child, fun() -> P = spawn_link(Node, ?MODULE, child, []), P ! {stop, x}, take() end),
    Tell(remote_down, fun() -> {P, _} = spawn_monitor(Node, ?MODULE, child, []), P ! {stop, x}, take() end),
    Tell(remote_down_of_name, fun() -> monitor(process, {no_such_name, Node}), take() end),
    Tell(remote_no_process, fun() ->
        P = spawn(Node, ?MODULE, child, []), M = monitor(process, P), P ! {stop, x}, take(), _ = M,
        link(P), take() end),
    Tell(no_node, fun() -> monitor_node(no_such@node, true), take() end),
    Tell(no_node_down, fun() -> monitor(process, {name, no_such@node}), take() end),
    Tell(large, fun() -> Self = self(), Remote ! {run, fun() -> Self ! {large, <<0:8000000>>} end}, take() end),
    Tell(fragments, fun() -> Self = self(), Remote ! {run, fun() -> Self ! {large, lists:seq(1, 200000)} end}, take() end),
    _ = erlang:trace_pattern('receive', [{[Node, '_', '_'], [], []}], []),
    Tell(pattern_of_node, fun() -> self() ! here, Remote ! {send, self(), there}, take(), take() end),
    _ = erlang:trace_pattern('receive', [{['_', Remote, '_'], [], []}], []),
    Tell(pattern_of_sender, fun() -> self() ! here, Remote ! {send, self(), there}, take(), take() end),
    _ = erlang:trace_pattern('receive', [{['_', undefined, '_'], [], []}], []),
    Tell(pattern_of_none, fun() -> self() ! here, Remote ! {send, self(), there}, take(), take(), receive after 1 -> ok end end).

%% Links with processes of another node, and the messages that come with them.
relations(Tell, Remote, Node) ->
    _ = erlang:trace_pattern('receive', [{['$1', '$2', '_'], [], [{message, {{'$1', '$2'}}}]}], []),
    Tell(link, fun() -> link(Remote) end),
    Tell(link_again, fun() -> link(Remote) end),
    Tell(unlink, fun() -> unlink(Remote) end),
    Tell(unlink_again, fun() -> unlink(Remote) end),
    Tell(getting_linked, fun() -> Self = self(), Remote ! {run, fun() -> link(Self), Self ! linked end}, take() end),
    Tell(getting_unlinked, fun() -> Self = self(), Remote ! {run, fun() -> unlink(Self), Self ! unlinked end}, take() end),
    Tell(spawn, fun() -> spawn(Node, ?MODULE, child, []) end),
    Tell(spawn_link, fun() -> spawn_link(Node, ?MODULE, child, []) ! {stop, normal}, take() end),
    Tell(spawn_request, fun() ->
        spawn_request(Node, ?MODULE, child, [], [link]),
        receive {spawn_reply, _, ok, P} -> unlink(P), P ! {stop, x} end end),
    Tell(spawn_untold, fun() ->
        Self = self(),
        spawn_request(Node, erlang, send, [Self, started], [link, {reply, error_only}]), take(), take() end),
    Tell(spawn_refused, fun() -> spawn_request(Node, ?MODULE, child, [], [link, no_option]), take() end).

going(Tell, Remote, Node) ->
    Tell(node_goes, fun() ->
        monitor_node(Node, true), monitor(process, Remote), link(Remote),
        rpc:cast(Node, erlang, halt, []), take(), take(), take() end).
