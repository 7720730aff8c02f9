%% A process that another node spawned: its parent and first function, trace flags for new processes; why a node is down that was killed.
-module(dist_spawned).
-export([main/1, work/1]).

main(_) ->
    {ok, _} = net_kernel:start([list_to_atom("dist_spawned" ++ os:getpid()), shortnames]),
    {ok, _, Node} = peer:start(#{name => peer:random_name(), args => ["-pa", filename:dirname(code:which(?MODULE)), "-connect_all", "false"]}),
    Collector = spawn(Node, fun() -> collect([]) end),
    {module, _} = erpc:call(Node, code, ensure_loaded, [?MODULE]),
    1 = erpc:call(Node, erlang, trace_pattern, [{?MODULE, work, 1}, [{'_', [], [{return_trace}]}], [local]]),
    0 = erpc:call(Node, erlang, trace, [new, true, [procs, call, {tracer, Collector}]]),
    {Pid, Monitor} = spawn_opt(Node, ?MODULE, work, [self()], [link, monitor]),
    t:w(info, receive {work, Info} -> Info end),
    t:w(down, receive {'DOWN', Monitor, process, Pid, Reason} -> Reason end),
    erpc:call(Node, erlang, trace, [all, false, [all]]),
    Collector ! {get, self()},
    t:w(traced, receive {traced, Events} -> [no_pids(tuple_to_list(Event)) || Event <- Events, element(2, Event) =:= Pid] end),
    t:w(parentless, erpc:call(Node, fun() -> {parent, Parent} = process_info(whereis(init), parent), Parent end)),
    killed(Node).

work(Parent) ->
    Parent ! {work, {process_info(self(), parent) =:= {parent, Parent}, process_info(self(), [initial_call, current_function, dictionary])}}.

collect(Events) ->
    receive
        {get, From} -> From ! {traced, lists:reverse(Events)};
        Event -> collect([Event | Events])
    end.

no_pids(Pid) when is_pid(Pid) -> {pid, node(Pid) =:= node()};
no_pids([Head | Tail]) -> [no_pids(Head) | no_pids(Tail)];
no_pids(Tuple) when is_tuple(Tuple) -> list_to_tuple(no_pids(tuple_to_list(Tuple)));
no_pids(Term) -> Term.

killed(Node) ->
    net_kernel:monitor_nodes(true, [nodedown_reason]),
    os:cmd("kill -9 " ++ erpc:call(Node, os, getpid, [])),
    t:w(nodedown, receive {nodedown, Node, Info} -> Info after 10000 -> none end).
