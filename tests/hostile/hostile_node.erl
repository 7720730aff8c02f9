%% A node that is attacked. It has processes for that (victims), and says on lines `@word JSON` what it has.
%%
%%     figures     processes, ports, atoms, tables, memory
%%     settle N    waits up to N seconds until no more processes and ports are there than at the beginning, and then says the figures
%%     left        what processes are there that were not there at the beginning
%%     queues      which processes have many messages waiting
%%     atoms       makes 1000 new atoms
%%     base        what is there now is what was there at the beginning
%%     told        how often the node logged that it closed a connection, by reason, and how often anything else
%%     first       the first processes: number and name
%%     end         the node ends in an orderly way
-module(hostile_node).
-export([main/1, log/2, victim/1, sleeps/0, sleeps/1]).

-define(VICTIMS, 16).
%% A victim ends after this number of messages, so that what it has gathered goes.
-define(MESSAGES, 2000).
%% Milliseconds after which all threads have given back what they do not need.
-define(REST, 5000).
%% Numbers of pids that are used up at the beginning: pids of victims look unlike those of the processes that a node does not live without.
-define(NUMBERS, 100000).

main(_) ->
    process_flag(trap_exit, true),
    {module, _} = code:ensure_loaded(timer),
    ok = code:ensure_modules_loaded([json, io_lib_pretty, io_lib_format, re, string, unicode_util, sets, erl_eval, rand, erpc, pg, global, binary, maps, proc_lib]),
    [begin Pid = spawn(fun() -> ok end), Ref = monitor(process, Pid), receive {'DOWN', Ref, _, _, _} -> ok end end || _ <- lists:seq(1, ?NUMBERS)],
    %% These start processes that stay.
    _ = inet:gethostbyname("localhost"),
    _ = inet_gethost_native:gethostbyname("localhost"),
    ets:new(hostile, [named_table, public]),
    ets:new(hostile_told, [named_table, public, {write_concurrency, true}]),
    [logger:remove_handler(Id) || Id <- logger:get_handler_ids()],
    ok = logger:add_handler(hostile, ?MODULE, #{}),
    Helper = spawn_link(fun() -> helper(processes()) end),
    Keeper = spawn_link(fun keeper/0),
    register(hostile, Helper),
    Keeper ! {protect, Helper},
    say(ready, #{os_pid => list_to_integer(os:getpid())}),
    Me = self(),
    Reader = spawn_link(fun() -> read(Me) end),
    Helper ! {protect, [Keeper, Reader, Helper | processes()]},
    loop(#{base => {length(processes()) + ?VICTIMS, length(erlang:ports()), 0}, first => processes()}).

%% A handler of logger. Reasons without their numbers, of which there may be any.
log(#{msg := {"~ts~n", ["Connection to node hostile" ++ Rest]}}, _) ->
    [_, Reason] = string:split(Rest, ": "),
    io:put_chars(user, [calendar:system_time_to_rfc3339(erlang:system_time(millisecond), [{unit, millisecond}]), " hostile", Rest, $\n]),
    told(iolist_to_binary(re:replace(Reason, "[0-9]+", "N", [global])));
log(#{msg := {"~ts~n", ["Connection to node " ++ _ = Text]}}, _) -> told(iolist_to_binary(["of another: ", Text]));
log(_, _) -> told(<<"other">>).

told(What) -> ets:update_counter(hostile_told, What, 1, {What, 0}).

say(Word, What) -> io:put_chars(user, ["@", atom_to_binary(Word), " ", json:encode(What), "\n"]).

read(To) ->
    case io:get_line("") of
        eof -> To ! eof;
        {error, terminated} -> ok;
        Line -> To ! {line, string:lexemes(string:trim(Line), " ")}, read(To)
    end.

loop(State) ->
    receive
        {line, ["figures"]} -> say(figures, figures());
        {line, ["settle", Seconds]} -> say(settle, settle(State, 1000 * list_to_integer(Seconds)));
        {line, ["left"]} -> say(left, left(State));
        {line, ["base"]} -> say(base, ok), loop(State#{base => {length(processes()), length(erlang:ports()), length(nodes(connected))}});
        {line, ["atoms"]} -> say(atoms, length([list_to_atom("own_" ++ integer_to_list(N)) || N <- lists:seq(1, 1000)]));
        {line, ["queues"]} -> say(queues, queues());
        {line, ["told"]} -> say(told, maps:from_list(ets:tab2list(hostile_told)));
        {line, ["first"]} -> say(first, first());
        {line, ["end"]} -> init:stop();
        eof -> init:stop();
        _ -> ok
    end,
    loop(State).

figures() ->
    #{processes => erlang:system_info(process_count), ports => erlang:system_info(port_count), atoms => erlang:system_info(atom_count),
      tables => length(ets:all()), ets => erlang:memory(ets), binary => erlang:memory(binary), in_processes => erlang:memory(processes_used),
      total => erlang:memory(total), nodes => length(nodes(connected)), known => length(nodes(known)), queued => queued(), areas => areas(), largest => largest()}.

%% What the allocator has: bytes and blocks in use, and bytes with what it keeps, for each kind of memory. Heddle alone tells it so.
areas() ->
    try maps:map(fun(_, #{blocks := Blocks, bytes := Bytes, area_bytes := Areas}) -> [Blocks, Bytes, Areas] end, maps:get(kinds, apply(heddle_stats, memory, [])))
    catch _:_ -> #{}
    end.

%% The processes with the most memory.
largest() ->
    All = [{Bytes, Pid} || Pid <- processes(), {_, Bytes} <- [process_info(Pid, memory)]],
    [iolist_to_binary(io_lib:format("~p ~p ~0p", [Bytes, Pid, process_info(Pid, [registered_name, initial_call, current_function, message_queue_len, total_heap_size])]))
     || {Bytes, Pid} <- lists:sublist(lists:reverse(lists:sort(All)), 4)].

%% The processes with the longest queues.
queues() ->
    All = [{N, Pid} || Pid <- processes(), {_, N} <- [process_info(Pid, message_queue_len)], N > 50],
    [iolist_to_binary(io_lib:format("~p ~p ~0p", [N, Pid, process_info(Pid, [registered_name, initial_call, current_function])]))
     || {N, Pid} <- lists:sublist(lists:reverse(lists:sort(All)), 5)].

queued() -> lists:sum([N || Pid <- processes(), {_, N} <- [process_info(Pid, message_queue_len)]]).

settle(State, Left) ->
    {Processes, Ports, Nodes} = maps:get(base, State),
    case length(processes()) =< Processes andalso length(erlang:ports()) =< Ports andalso length(nodes(connected)) =< Nodes of
        false when Left > 0 -> receive after 100 -> settle(State, Left - 100) end;
        _ ->
            [garbage_collect(Pid) || Pid <- processes()],
            %% A thread gives memory back when it has slept for a while.
            receive after ?REST -> ok end,
            figures()
    end.

left(#{first := First}) ->
    Victims = [whereis(name(N)) || N <- lists:seq(1, ?VICTIMS)],
    [iolist_to_binary(io_lib:format("~p ~0p", [Pid, process_info(Pid, [registered_name, current_function, initial_call, group_leader, message_queue_len, links, monitors])]))
     || Pid <- processes() -- (First ++ Victims)].

%% Those that a node has before any application but kernel.
first() ->
    [#{number => Number, name => process_name(Pid)} || Pid <- processes(), Number <- [number(Pid)], Number < 100].

number(Pid) -> list_to_integer(lists:nth(2, string:lexemes(pid_to_list(Pid), "<.>"))).

process_name(Pid) ->
    case process_info(Pid, registered_name) of
        {registered_name, Name} -> atom_to_binary(Name);
        _ ->
            {M, F, A} = case proc_lib:translate_initial_call(Pid) of {proc_lib, init_p, _} -> element(2, process_info(Pid, initial_call)); Call -> Call end,
            iolist_to_binary(io_lib:format("~p:~p/~p", [M, F, A]))
    end.

%% Tells peers which processes there are.
helper(Protected) ->
    receive
        {protect, Pids} -> helper(Pids);
        {who, Pid} when is_pid(Pid) ->
            erlang:send(Pid, {victims, [P || N <- lists:seq(1, ?VICTIMS), P <- [whereis(name(N))], is_pid(P)]}, [noconnect, nosuspend]),
            erlang:send(Pid, {protected, Protected}, [noconnect, nosuspend]),
            helper(Protected);
        {echo, Pid, Term} when is_pid(Pid) ->
            erlang:send(Pid, {echo, Term}, [noconnect]),
            helper(Protected);
        _ -> helper(Protected)
    end.

%% Starts victims again when they end.
keeper() ->
    process_flag(trap_exit, true),
    keeper(#{victim(N, start) => N || N <- lists:seq(1, ?VICTIMS)}).

keeper(Victims) ->
    receive
        {'DOWN', _, process, Pid, _} when is_map_key(Pid, Victims) ->
            {N, Rest} = maps:take(Pid, Victims),
            keeper(Rest#{victim(N, start) => N});
        _ -> keeper(Victims)
    end.

victim(N, start) ->
    {Pid, _} = spawn_monitor(?MODULE, victim, [N]),
    Pid.

name(N) -> list_to_atom("hostile_" ++ integer_to_list(N - 1)).

%% The first are plain, others trap exits or have their messages elsewhere.
victim(N) ->
    try register(name(N), self()) catch error:badarg -> ok end,
    process_flag(trap_exit, N rem 3 =:= 0),
    N rem 4 =:= 0 andalso process_flag(message_queue_data, off_heap),
    victim_loop(N, ?MESSAGES).

victim_loop(_, 0) -> ok;
victim_loop(N, Left) ->
    receive
        {hostile, Order, Pid, Term} -> try order(Order, Pid, Term) catch _:_ -> ok end;
        {io_request, From, As, _} when is_pid(From) -> catch erlang:send(From, {io_reply, As, ok}, [noconnect, nosuspend]);
        Term -> look(N, Term)
    end,
    victim_loop(N, Left - 1).

%% What natives do with a term that came from afar.
look(N, Term) ->
    case N rem 6 of
        0 -> erlang:phash2(Term);
        1 -> binary_to_term(term_to_binary(Term)) =:= Term orelse exit({differs, Term});
        2 -> ets:insert(hostile, {N, Term}), ets:lookup(hostile, N), ets:delete(hostile, N);
        3 -> erts_debug:flat_size(Term), term_to_binary(Term, [compressed]);
        4 -> (Term < make_ref()) orelse [Term] =:= [Term, a];
        5 -> self() ! {again, Term}, receive {again, T} -> T =:= Term end
    end.

%% What the peer wants to be done with one of its processes.
order(link, Pid, _) -> link(Pid);
order(unlink, Pid, _) -> unlink(Pid);
order(monitor, Pid, _) -> put(ref, monitor(process, Pid));
order(alias, Pid, _) -> put(ref, monitor(process, Pid, [{alias, reply_demonitor}]));
order(demonitor, _, _) -> demonitor(get(ref), [flush]);
order(spawn, Pid, Term) -> erlang:spawn_request(node(Pid), ?MODULE, sleeps, [Term], [link]);
order(spawn_monitor, Pid, Term) -> erlang:spawn_request(node(Pid), ?MODULE, sleeps, [Term], [monitor, {reply, error_only}]);
order(exit, Pid, Term) -> exit(Pid, Term);
order(send, Pid, Term) -> erlang:send(Pid, Term, [nosuspend]);
order(send_name, Pid, Term) -> erlang:send({hostile, node(Pid)}, Term, [nosuspend]);
order(leader, Pid, _) -> group_leader(Pid, self());
order(die, _, Term) -> exit(Term);
order(trap, _, _) -> process_flag(trap_exit, not element(2, process_info(self(), trap_exit)));
order(burst, Pid, Term) -> [erlang:send(Pid, {N, Term}, [nosuspend]) || N <- lists:seq(1, 100)];
order(large, Pid, Term) -> erlang:send(Pid, {Term, binary:copy(<<"large">>, 50000)}, [nosuspend]).

%% What spawned processes do.
sleeps() -> ok.
sleeps(Ms) when is_integer(Ms), Ms >= 0, Ms < 1000 -> receive after Ms -> ok end;
sleeps(_) -> ok.
