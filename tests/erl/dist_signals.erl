%% Signals to and from processes of another node, which runs the same emulator: messages, links, monitors, exits, spawn requests, names, the end
%% of the connection.
-module(dist_signals).
-export([main/1, echo/0, start_echo/1, ordered/2]).

main(_) ->
    {ok, _} = net_kernel:start([list_to_atom("dist_signals" ++ os:getpid()), shortnames]),
    {ok, Peer, Node} = peer:start_link(#{name => peer:random_name(), args => ["-pa", filename:dirname(code:which(?MODULE)), "-connect_all", "false"]}),
    t:w(alive, {is_alive(), nodes() =:= [Node], nodes(connected) =:= [Node], erlang:node(Peer) =:= node()}),
    messages(Node),
    order(Node),
    names(Node),
    links(Node),
    monitors(Node),
    exits(Node),
    spawns(Node),
    aliases(Node),
    leaders(Node),
    calls(Node),
    down(Peer, Node),
    unreachable().

echo() ->
    receive
        {From, Message} -> From ! {self(), Message}, echo();
        {From, Ref, do, Fun} -> From ! {Ref, catch Fun()}, echo();
        stop -> ok
    end.

start_echo(Name) -> register(Name, self()), echo().

ask(Pid, Fun) ->
    Ref = make_ref(),
    Pid ! {self(), Ref, do, Fun},
    receive {Ref, Result} -> Result after 20000 -> no_answer end.

there_and_back(Pid, Term) ->
    Pid ! {self(), Term},
    receive {Pid, Back} -> Back =:= Term after 20000 -> no_answer end.

messages(Node) ->
    P = spawn(Node, ?MODULE, echo, []),
    X = 17,
    Terms = [[], 0, -1, 1 bsl 70, -(1 bsl 2000), 1.5, <<>>, <<1:3>>, <<"text">>, binary:copy(<<7>>, 65), binary:copy(<<"large">>, 300000), "string", [1 | 2],
             {}, {a, 'ö', b}, #{}, #{1 => one, two => #{}}, maps:from_list([{N, [N]} || N <- lists:seq(1, 100)]), self(), P, make_ref(), alias(),
             hd(erlang:ports()), fun lists:map/2, fun(Y) -> X + Y end, lists:seq(1, 100000), [list_to_atom("atom" ++ integer_to_list(N)) || N <- lists:seq(1, 600)],
             list_to_tuple(lists:seq(1, 300)), binary:part(binary:copy(<<"sub">>, 100), 5, 200), <<5:4, (binary:copy(<<9>>, 200))/binary>>],
    t:w(terms, [there_and_back(P, T) || T <- Terms]),
    t:w(twice, [there_and_back(P, T) || T <- Terms] =:= [true || _ <- Terms]),
    t:w(identity, {node(P) =:= Node, ask(P, fun() -> node() end) =:= Node, is_pid(P), P =:= ask(P, fun() -> self() end), P < P, P == P}),
    t:w(stop, begin P ! stop, ok end).

%% Small messages of a process come after a large one that it sent before; those of others do not wait for it.
order(Node) ->
    Self = self(),
    P = spawn(Node, ?MODULE, ordered, [Self, 60]),
    Large = binary_to_list(binary:copy(<<1, 2, 3, 255>>, 250000)),
    [begin P ! {N, case N rem 20 of 7 -> Large; _ -> N end} end || N <- lists:seq(1, 60)],
    t:w(order, receive {P, Order} -> Order =:= lists:seq(1, 60) after 60000 -> none end),
    Senders = [spawn_monitor(fun() ->
                                 Q = spawn(Node, ?MODULE, ordered, [self(), 200]),
                                 [Q ! {N, x} || N <- lists:seq(1, 200)],
                                 receive {Q, O} -> exit(O =:= lists:seq(1, 200)) after 60000 -> exit(none) end
                             end) || _ <- lists:seq(1, 10)],
    t:w(senders, lists:usort([receive {'DOWN', M, process, S, R} -> R end || {S, M} <- Senders])).

ordered(To, Count) -> To ! {self(), [receive {N, _} -> N end || _ <- lists:seq(1, Count)]}.

names(Node) ->
    P = spawn(Node, ?MODULE, start_echo, [dist_echo]),
    true = there_and_back(P, ready),
    {dist_echo, Node} ! {self(), by_name},
    t:w(by_name, receive {P, M} -> M after 5000 -> none end),
    t:w(no_name, {no_such_name, Node} ! message),
    t:w(send, {erlang:send({dist_echo, Node}, {self(), x}, [noconnect]), receive {P, x} -> ok end, erlang:send(P, {self(), y}, [nosuspend]), receive {P, y} -> ok end}),
    P ! stop.

links(Node) ->
    process_flag(trap_exit, true),
    P = spawn_link(Node, ?MODULE, echo, []),
    t:w(linked, {lists:member(P, element(2, process_info(self(), links))), ask(P, fun() -> element(2, process_info(self(), links)) end) =:= [self()]}),
    true = unlink(P),
    t:w(unlinked, {lists:member(P, element(2, process_info(self(), links))), ask(P, fun() -> element(2, process_info(self(), links)) end)}),
    true = link(P),
    true = link(P),
    exit(P, boom),
    t:w(exit, receive {'EXIT', P, R} -> R after 5000 -> none end),
    t:w(dead, {link(P), receive {'EXIT', P, R2} -> R2 after 5000 -> none end}),
    Q = spawn_link(Node, fun() -> exit({large, lists:seq(1, 50000)}) end),
    t:w(large_reason, receive {'EXIT', Q, {large, L}} -> length(L) after 5000 -> none end),
    Self = self(),
    S = spawn(Node, fun() -> process_flag(trap_exit, true), link(Self), Self ! {self(), linked}, receive E -> Self ! {self(), E} end end),
    receive {S, linked} -> ok end,
    unlink(S),
    t:w(they_unlinked, ask_info(S, links)),
    exit(S, {for_you, self()}),
    t:w(trapped, receive {S, {'EXIT', Self, {for_you, Self}}} -> ok after 5000 -> none end),
    process_flag(trap_exit, false),
    t:flush().

ask_info(P, Item) -> t:wait_until(fun() -> erpc:call(node(P), erlang, process_info, [P, Item]) =:= {Item, []} end).

monitors(Node) ->
    P = spawn(Node, ?MODULE, start_echo, [dist_watched]),
    true = there_and_back(P, ready),
    M1 = monitor(process, P),
    M2 = monitor(process, {dist_watched, Node}),
    M3 = monitor(process, P, [{tag, {my, tag}}]),
    M4 = monitor(process, P),
    t:w(monitored_by, {ask(P, fun() -> element(2, process_info(self(), monitored_by)) end) =:= [self(), self(), self(), self()],
                       lists:sort(element(2, process_info(self(), monitors))) =:= lists:sort([{process, P}, {process, {dist_watched, Node}}, {process, P}, {process, P}])}),
    t:w(demonitor, {demonitor(M4, [flush, info]), demonitor(M4, [flush, info]), demonitor(M4)}),
    P ! stop,
    t:w(down, {receive {'DOWN', M1, process, P, R1} -> R1 after 5000 -> none end,
               receive {'DOWN', M2, process, {dist_watched, Node}, R2} -> R2 after 5000 -> none end,
               receive {{my, tag}, M3, process, P, R3} -> R3 after 5000 -> none end}),
    M5 = monitor(process, P),
    M6 = monitor(process, {no_such_name, Node}),
    t:w(noproc, {receive {'DOWN', M5, process, P, R5} -> R5 after 5000 -> none end,
                 receive {'DOWN', M6, process, {no_such_name, Node}, R6} -> R6 after 5000 -> none end}),
    t:w(none, t:flush()).

exits(Node) ->
    P = spawn(Node, ?MODULE, echo, []),
    M = monitor(process, P),
    exit(P, normal),
    t:w(normal, there_and_back(P, still_there)),
    exit(P, kill),
    t:w(kill, receive {'DOWN', M, process, P, R} -> R after 5000 -> none end),
    {Q, N} = spawn_monitor(Node, erlang, exit, [bye]),
    t:w(bye, receive {'DOWN', N, process, Q, R2} -> R2 after 5000 -> none end),
    {S, O} = spawn_monitor(Node, erlang, no_such_function, [1]),
    t:w(undef, receive {'DOWN', O, process, S, {undef, [{Mod, F, A, _} | _]}} -> {Mod, F, A} after 5000 -> none end).

spawns(Node) ->
    R1 = spawn_request(Node, ?MODULE, echo, [], [monitor, link]),
    P1 = receive {spawn_reply, R1, ok, P} -> P after 5000 -> none end,
    process_flag(trap_exit, true),
    P1 ! stop,
    t:w(request, {receive {'DOWN', R1, process, P1, Why} -> Why after 5000 -> none end, receive {'EXIT', P1, Why2} -> Why2 after 5000 -> none end}),
    process_flag(trap_exit, false),
    R2 = spawn_request(Node, ?MODULE, echo, [], [{reply_tag, mine}, {reply, error_only}]),
    R3 = spawn_request(Node, ?MODULE, echo, [], [{priority, nonsense}, {reply_tag, {my, tag}}]),
    t:w(badopt, {receive {{my, tag}, R3, error, E} -> E after 5000 -> none end, receive {mine, R2, _, _} -> answered after 300 -> silent end}),
    {P4, M4} = spawn_opt(Node, fun() -> receive stop -> exit({my, node()}) end end, [monitor, {priority, high}]),
    t:w(opts, {ask_remote(P4, priority), P4 ! stop, receive {'DOWN', M4, process, P4, {my, Node}} -> ok after 5000 -> none end}),
    R5 = spawn_request(Node, timer, sleep, [infinity], [{monitor, [{tag, gone}]}]),
    P5 = receive {spawn_reply, R5, ok, X5} -> X5 after 5000 -> none end,
    exit(P5, kill),
    t:w(tag, receive {gone, R5, process, P5, Y5} -> Y5 after 5000 -> none end),
    Large = lists:seq(1, 30000),
    Self = self(),
    P6 = spawn(Node, erlang, apply, [fun(L) -> Self ! {self(), length(L)} end, [Large]]),
    t:w(large_arguments, receive {P6, Length} -> Length after 5000 -> none end),
    t:w(abandon, spawn_request_abandon(R5)),
    t:w(rest, t:flush()).

ask_remote(P, Item) -> erpc:call(node(P), erlang, process_info, [P, Item]).

aliases(Node) ->
    A = alias([reply]),
    Self = self(),
    spawn(Node, fun() -> A ! {first, A}, A ! second, Self ! sent end),
    t:w(alias, {receive {first, A} -> ok after 5000 -> none end, receive sent -> ok end, t:flush()}),
    Ref = monitor(process, {dist_nobody, Node}, [{alias, demonitor}]),
    receive {'DOWN', Ref, _, _, _} -> ok end,
    spawn(Node, fun() -> Ref ! late, Self ! sent end),
    t:w(inactive, {receive sent -> ok end, t:flush()}).

leaders(Node) ->
    P = spawn(Node, fun() -> receive go -> ok end, io:format("from the other node~n") end),
    M = monitor(process, P),
    t:w(leader, {erpc:call(Node, erlang, process_info, [P, group_leader]) =:= {group_leader, group_leader()}, group_leader(group_leader(), P)}),
    P ! go,
    receive {'DOWN', M, process, P, R} -> t:w(leader_used, R) end.

calls(Node) ->
    t:w(rpc, {rpc:call(Node, lists, sum, [[1, 2, 3]]), rpc:call(Node, erlang, exit, [why]), erpc:call(Node, fun() -> {1, 2} end)}),
    t:w(erpc, try erpc:call(Node, erlang, error, [wrong]) catch C:{E, W, _} -> {C, E, W} end),
    t:w(multicall, erpc:multicall([Node, Node], erlang, atom_to_list, [x])),
    t:w(server, {element(1, element(2, catch gen_server:call({no_such_server, Node}, x, 1000))), length(gen_server:call({rex, Node}, {call, erlang, nodes, [], self()}, 5000))}),
    t:w(ping, {net_adm:ping(Node), net_adm:ping(node()), net_adm:ping('nobody@nowhere.invalid')}).

down(Peer, Node) ->
    process_flag(trap_exit, true),
    unlink(Peer),
    ok = net_kernel:monitor_nodes(true, #{nodedown_reason => true, node_type => all}),
    true = monitor_node(Node, true),
    P = spawn_link(Node, ?MODULE, echo, []),
    M = monitor(process, P),
    N = monitor(process, {init, Node}),
    R = spawn_request(Node, timer, sleep, [infinity], [{reply, no}]),
    true = there_and_back(P, ready),
    erpc:cast(Node, erlang, halt, [0]),
    t:w(nodedown, [receive {nodedown, Node} -> ok after 5000 -> none end,
                   receive {nodedown, Node, Info} -> lists:sort(maps:keys(Info)) after 5000 -> none end,
                   receive {'EXIT', P, E} -> E after 5000 -> none end,
                   receive {'DOWN', M, process, P, D} -> D after 5000 -> none end,
                   receive {'DOWN', N, process, {init, Node}, I} -> I after 5000 -> none end]),
    t:w(nodes, {nodes(), lists:member(Node, nodes(known)), is_reference(R)}),
    t:w(links, {[X || X <- element(2, process_info(self(), links)), node(X) =/= node()], process_info(self(), monitors)}),
    ok = net_kernel:monitor_nodes(false, #{nodedown_reason => true, node_type => all}),
    t:w(rest, t:flush()).

%% A node that cannot be reached.
unreachable() ->
    Node = 'nobody@nowhere.invalid',
    {nobody, Node} ! message,
    M = monitor(process, {nobody, Node}),
    t:w(unreachable, {receive {'DOWN', M, process, {nobody, Node}, R} -> R after 20000 -> none end, monitor_node(Node, true), receive {nodedown, Node} -> ok after 20000 -> none end,
                      erlang:send({nobody, Node}, x, [noconnect])}),
    t:w(spawn, try erpc:call(Node, erlang, node, [], 20000) catch C:E -> {C, E} end).
