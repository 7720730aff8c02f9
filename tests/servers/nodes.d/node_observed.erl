%% What observer, etop and dbg at this node ask of another one.
-module(node_observed).
-export([check/1]).
-import(node_server, [check/2, check/3]).

check(Far) ->
    backend(Far),
    processes(Far),
    debugger(Far).

backend(Far) ->
    Ask = fun(Function, Arguments) -> rpc:call(Far, observer_backend, Function, Arguments) end,
    Hide = [{system_hidden, false}, {unreadable_hidden, false}],
    check("observer_backend:sys_info", fun() ->
        Info = Ask(sys_info, []),
        lists:all(fun(Key) -> lists:keymember(Key, 1, Info) end, [uptime, run_queue, io_input, process_count, alloc_info, atom_count, otp_release])
    end),
    check("observer_backend:get_table_list of ets", fun() ->
        [_ | _] = Tables = Ask(get_table_list, [ets, Hide]),
        lists:all(fun(Table) -> is_list(Table) end, Tables)
    end),
    check("observer_backend:get_table", fun() ->
        Ask(get_table, [self(), erpc:call(Far, fun() -> hd([T || T <- ets:all(), ets:info(T, name) =:= ac_tab]) end), ets]),
        receive [_ | _] -> true; {_, _} -> true after 5000 -> false end
    end),
    check("observer_backend:get_mnesia_loop and get_table_list of mnesia", fun() -> is_tuple(Ask(get_table_list, [mnesia, Hide])) end),
    check("observer_backend:get_port_list", fun() ->
        [_ | _] = Ports = Ask(get_port_list, []),
        lists:all(fun([{port_id, _}, {name, _} | _]) -> true; (_) -> false end, Ports)
    end),
    check("observer_backend:get_socket_list", fun() -> is_list(Ask(get_socket_list, [])) end),
    check("observer_backend:socket_info", fun() -> is_list(Ask(socket_info, [])) end).

processes(Far) ->
    Me = self(),
    check("observer_backend:procs_info", fun() ->
        Collector = spawn(Far, observer_backend, procs_info, [Me]),
        is_pid(Collector) andalso rows(Collector, 0) > 20
    end),
    check("observer_backend:etop_collect", etop_info, fun() ->
        Collector = spawn(Far, observer_backend, etop_collect, [Me]),
        receive {Collector, Info} -> element(1, Info) after 5000 -> none end
    end),
    %% Some packages of OTP have no etop.
    code:which(etop) =/= non_existing andalso check("etop prints the processes of the other node", true, fun() -> etop(Far) end).

etop(Far) ->
    spawn(fun() -> etop:start([{node, Far}, {output, text}, {interval, 1}, {lines, 60}]) end),
    true = node_server:until(true, fun() -> is_pid(whereis(etop_server)) end),
    File = "etop_" ++ atom_to_list(Far),
    timer:sleep(1500),
    ok = etop:dump(File),
    Shown = fun(Text) ->
        {ok, Written} = file:read_file(File),
        string:find(Written, Text) =/= nomatch
    end,
    Found = [node_server:until(true, fun() -> Shown(Text) end) || Text <- [atom_to_list(Far), "net_kernel"]],
    etop:stop(),
    Found =:= [true, true].

%% The number of processes of which the collector tells, in one message or many.
rows(Collector, Count) ->
    receive
        {procs_info, _, Rows} -> rows(Collector, Count + length(Rows));
        {procs_info, Rows} -> rows(Collector, Count + length(Rows))
    after 1000 -> Count
    end.

debugger(Far) ->
    Me = self(),
    check("dbg:n", {ok, Far}, fun() -> {ok, _} = dbg:tracer(process, {fun(Event, _) -> Me ! {traced, Event} end, none}), dbg:n(Far) end),
    check("dbg:p", [Far], fun() -> {ok, Matched} = dbg:p(new, [call]), [Node || {matched, Node, _} <- Matched, Node =:= Far] end),
    check("dbg:tpl", 1, fun() ->
        {ok, Matched} = dbg:tpl(string, to_upper, '_', [{'_', [], [{return_trace}]}]),
        hd([Count || {matched, Node, Count} <- Matched, Node =:= Far])
    end),
    spawn(Far, string, to_upper, ["abc"]),
    check("a call there is told", {Far, {string, to_upper, ["abc"]}}, fun() ->
        receive {traced, {trace, Pid, call, Call}} -> {node(Pid), Call} after 5000 -> none end
    end),
    check("and its value", {Far, {string, to_upper, 1}, "ABC"}, fun() ->
        receive {traced, {trace, Pid, return_from, Call, Value}} -> {node(Pid), Call, Value} after 5000 -> none end
    end),
    check("dbg:ln and dbg:cn", ok, fun() -> dbg:cn(Far) end),
    dbg:stop().
