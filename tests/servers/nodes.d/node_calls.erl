%% Calls, global names and groups between this node and another one.
-module(node_calls).
-export([check/1]).
-import(node_server, [check/2, check/3, until/2, silent/0]).

check(Far) ->
    calls(Far),
    requests(Far),
    names(Far),
    groups(Far).

calls(Far) ->
    Near = node(),
    check("rpc:call", Far, fun() -> rpc:call(Far, erlang, node, []) end),
    check("rpc:multicall", {[Near, Far], [none@localhost]}, fun() -> rpc:multicall([Near, Far, none@localhost], erlang, node, []) end),
    check("rpc:async_call", [1, 2, 3], fun() -> rpc:yield(rpc:async_call(Far, lists, seq, [1, 3])) end),
    check("rpc:parallel_eval", [[1], [1, 2]], fun() -> rpc:parallel_eval([{lists, seq, [1, N]} || N <- [1, 2]]) end),
    check("rpc:call that fails", badarith, fun() -> {badrpc, {'EXIT', {Reason, [_ | _]}}} = rpc:call(Far, erlang, 'div', [1, 0]), Reason end),
    check("erpc:call", 42, fun() -> erpc:call(Far, lists, sum, [[1, 2, 39]]) end),
    check("erpc:call of a fun", {Far, 42}, fun() -> X = 42, erpc:call(Far, fun() -> {node(), X} end) end),
    check("erpc:call that fails", strange, fun() -> try erpc:call(Far, erlang, error, [strange]) catch error:{exception, R, [_ | _]} -> R end end),
    check("erpc:call that exits", strange, fun() -> try erpc:call(Far, erlang, exit, [strange]) catch exit:{exception, R} -> R end end),
    check("erpc:call that takes too long", timeout, fun() -> try erpc:call(Far, timer, sleep, [5000], 100) catch error:{erpc, R} -> R end end),
    check("erpc:call of a node that is not there", noconnection, fun() -> try erpc:call(none@localhost, erlang, node, []) catch error:{erpc, R} -> R end end).

requests(Far) ->
    check("erpc:multicall", [{ok, node()}, {ok, Far}], fun() -> erpc:multicall([node(), Far], erlang, node, []) end),
    check("erpc:send_request, a collection", [{1, [1]}, {2, [1, 2]}, {3, [1, 2, 3]}], fun() ->
        lists:sort(collect(lists:foldl(fun(N, C) -> erpc:send_request(Far, lists, seq, [1, N], N, C) end, erpc:reqids_new(), [1, 2, 3])))
    end),
    check("gen_server:call by name and node", fun() -> is_list(gen_server:call({application_controller, Far}, which_applications)) end),
    check("gen_server:multi_call", [node(), Far], fun() ->
        {Replies, []} = gen_server:multi_call([node(), Far], application_controller, which_applications),
        [Node || {Node, _} <- Replies]
    end),
    check("spawn_request", Far, fun() ->
        Id = spawn_request(Far, erlang, node, [], [monitor]),
        receive {spawn_reply, Id, ok, Pid} -> receive {'DOWN', Id, process, Pid, normal} -> node(Pid) end end
    end),
    check("spawn_link with an error there", {there, strange}, fun() ->
        Pid = spawn_link(Far, erlang, error, [{there, strange}]),
        receive {'EXIT', Pid, {Reason, [_ | _]}} -> Reason end
    end),
    check("output there comes to the group leader here", ok, fun() -> rpc:call(Far, io, format, ["output of ~p~n", [Far]]) end).

collect(Collection) ->
    case erpc:wait_response(Collection, 5000, true) of
        {{response, Result}, Label, Rest} -> [{Label, Result} | collect(Rest)];
        no_request -> []
    end.

names(Far) ->
    Name = {name, node()},
    Holder = silent(),
    global:sync(),
    check("global:register_name", yes, fun() -> global:register_name(Name, Holder) end),
    check("global:whereis_name there", Holder, fun() -> rpc:call(Far, global, whereis_name, [Name]) end),
    check("the name is taken there", no, fun() -> rpc:call(Far, global, register_name, [Name, rpc:call(Far, erlang, whereis, [init])]) end),
    check("global:re_register_name there", Far, fun() ->
        yes = rpc:call(Far, global, re_register_name, [Name, rpc:call(Far, node_server, silent, [])]), node(global:whereis_name(Name))
    end),
    check("global:send", Far, fun() -> node(global:send(Name, stop)) end),
    check("the name goes with its process", undefined, fun() -> until(undefined, fun() -> global:whereis_name(Name) end) end),
    Holder ! stop,
    check("global:trans locks both", false, fun() ->
        global:trans({lock, self()}, fun() -> rpc:call(Far, global, set_lock, [{lock, other}, [node(), Far], 0]) end)
    end),
    check("the lock is free then", true, fun() -> rpc:call(Far, global, set_lock, [{lock, other}, [node(), Far], 3]) end),
    rpc:call(Far, global, del_lock, [{lock, other}, [node(), Far]]).

groups(Far) ->
    [erpc:call(Node, fun start_scope/0) || Node <- [node(), Far]],
    Member = silent(),
    There = fun(Function, Rest) -> rpc:call(Far, pg, Function, [groups, crew | Rest]) end,
    check("pg:join", ok, fun() -> pg:join(groups, crew, [Member, Member]) end),
    check("pg:get_members there", [Member, Member], fun() -> until([Member, Member], fun() -> There(get_members, []) end) end),
    check("pg:get_local_members there", [], fun() -> There(get_local_members, []) end),
    check("pg:monitor there tells of a member that ends", {leave, crew, [Member]}, fun() ->
        Me = self(),
        Watcher = spawn(Far, fun() ->
            {Monitor, [Member, Member]} = pg:monitor(groups, crew),
            Me ! {self(), ready},
            receive {Monitor, Change, Group, Pids} -> Me ! {self(), {Change, Group, Pids}} end
        end),
        receive {Watcher, ready} -> Member ! stop end,
        receive {Watcher, Told} -> Told after 5000 -> none end
    end),
    check("no member is left", {[], []}, fun() -> {pg:get_members(groups, crew), There(get_members, [])} end).

start_scope() ->
    case pg:start(groups) of
        {ok, _} -> ok;
        {error, {already_started, _}} -> ok
    end.
