%% Trace tokens that go to another node and come back, what a process tells of itself that another node asked for, and what tells of connections.
-module(dist_traced).
-export([main/1, answer/0, idle/0]).

main(_) ->
    {ok, _} = net_kernel:start([list_to_atom("dist_traced" ++ os:getpid()), shortnames]),
    Folder = filename:dirname(code:which(?MODULE)),
    {ok, Peer, Node} = peer:start_link(#{name => peer:random_name(), args => ["-pa", Folder, "-connect_all", "false"]}),
    _ = erpc:call(Node, ?MODULE, module_info, []),
    spawned(Node),
    tokens(Node),
    refused(Node),
    carriers(Node),
    peer:stop(Peer).

idle() ->
    receive stop -> ok end.

%% The process starts in a function of ERTS, which these items do not show.
spawned(Node) ->
    Pid = spawn(Node, ?MODULE, idle, []),
    Info = erpc:call(Node, erlang, process_info, [Pid, [parent, initial_call]]),
    t:w(spawned, {proplists:get_value(parent, Info) =:= self(), proplists:get_value(initial_call, Info)}),
    Pid ! stop.

answer() ->
    receive {From, Question} -> From ! {answer, Question} end.

%% The events that the tracer of this node has seen, with names instead of pids.
events(Tracer, Names) ->
    Tracer ! {events, self()},
    receive {events, Events} -> [named(Event, Names) || Event <- Events] end.

named(Term, Names) when is_tuple(Term) ->
    list_to_tuple([named(E, Names) || E <- tuple_to_list(Term)]);
named(Term, Names) when is_list(Term) ->
    [named(E, Names) || E <- Term];
named(Term, Names) ->
    case lists:keyfind(Term, 1, Names) of
        {_, Name} -> Name;
        false when is_reference(Term) -> reference;
        false when is_pid(Term) -> pid;
        false -> Term
    end.

start_tracer() ->
    Tracer = spawn_link(fun() -> tracer([]) end),
    seq_trace:set_system_tracer(Tracer),
    Tracer.

tracer(Events) ->
    receive
        {seq_trace, Label, Event} -> tracer([{Label, Event} | Events]);
        {events, From} -> From ! {events, lists:reverse(Events)}
    end.

begin_trace(Label) ->
    seq_trace:set_token(label, Label),
    [seq_trace:set_token(Flag, true) || Flag <- [send, 'receive']].

tokens(Node) ->
    Pid = spawn(Node, ?MODULE, answer, []),
    Tracer = start_tracer(),
    begin_trace({label, [1]}),
    Pid ! {self(), <<0:800>>},
    receive {answer, _} -> ok end,
    Serial = seq_trace:get_token(serial),
    Label = seq_trace:get_token(label),
    seq_trace:set_token([]),
    t:w(token, {Label, Serial}),
    t:w(events, events(Tracer, [{self(), me}, {Pid, other}, {<<0:800>>, binary}])),
    seq_trace:reset_trace().

refused(Node) ->
    Tracer = start_tracer(),
    begin_trace(refused),
    Request = spawn_request(Node, ?MODULE, idle, [], [no_option]),
    Why = receive {spawn_reply, Request, error, Reason} -> Reason end,
    seq_trace:set_token([]),
    t:w(refused, Why),
    t:w(events, events(Tracer, [{self(), me}, {group_leader(), leader}, {Node, node}])),
    seq_trace:reset_trace().

carriers(Node) ->
    Carriers = erlang:system_info(dist_ctrl),
    t:w(carriers, [{Name =:= Node, is_port(Port)} || {Name, Port} <- Carriers]).
