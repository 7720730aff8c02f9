%% Native tasks from Erlang: started, linked, monitored, named, sent to, looked at, suspended, ended. The type is the `probe` of the
%% machine's tests, which does what it is told.
-module(heddle_tasks).
-export([main/1]).

main(_) ->
    erts_debug:set_internal_state(available_internal_state, true),
    erts_debug:set_internal_state(heddle_task_probe, true),
    Tests = [start, errors, echo, order, link_task_ends, link_process_ends, link_by_task, unlink_by_task, trap, monitor, demonitor,
             names, timeout, idle, info, listing, suspend, kill, exits, stops, collect, sends, threads, levels, bound, blocked, placed, traced, many],
    [run(Test) || Test <- Tests],
    settle(0),
    io:format("living: ~p~n", [living()]).

run(Test) ->
    io:format("~p: ~kp~n", [Test, test(Test)]),
    case flush() of
        [] -> ok;
        Left -> io:format("  left: ~p~n", [Left])
    end.

flush() -> receive M -> [M | flush()] after 0 -> [] end.

probe() -> probe([]).
probe(Options) ->
    {ok, Pid} = heddle_task:start(probe, none, Options),
    Pid.

%% What the task answers.
ask(Task, Command, Argument) ->
    Task ! {Command, self(), Argument},
    receive {Command, Answer} -> Answer after 20000 -> timeout end.

%% Its end, as a monitor tells it.
stop(Task) ->
    M = monitor(process, Task),
    exit(Task, shutdown),
    receive {'DOWN', M, process, Task, Reason} -> Reason after 20000 -> timeout end.

next() -> receive M -> M after 20000 -> timeout end.

living() -> erts_debug:get_internal_state(heddle_task_probe).

%% Tasks are freed after what tells of their end.
settle(N) -> settle(N, 1000).
settle(_, 0) -> ok;
settle(N, Rounds) ->
    case living() of
        N -> ok;
        _ -> timer:sleep(5), settle(N, Rounds - 1)
    end.

test(start) ->
    T = probe(),
    {ok, {U, M}} = heddle_task:start(probe, self(), [link, monitor]),
    process_flag(trap_exit, true),
    exit(U, gone),
    Ends = lists:sort([next(), next(), next()]),
    Expected = lists:sort([{'EXIT', U, gone}, {'DOWN', M, process, U, gone}, {terminate, U, gone}]),
    process_flag(trap_exit, false),
    {is_pid(T), is_process_alive(T), stop(T), is_process_alive(T), Ends =:= Expected};

test(errors) ->
    Error = fun(F) ->
                try F() of R -> R
                catch error:E:Trace ->
                    {heddle_task, Name, _, _} = hd(Trace),
                    {E, Name, maps:map(fun(_, V) -> lists:flatten(V) end, heddle_task:format_error(E, Trace))}
                end
            end,
    S = fun(Type, Options) -> Error(fun() -> heddle_task:start(Type, none, Options) end) end,
    Me = self(),
    {S(no_such_type, []), S("probe", []), S(probe, [{priority, 32}]), S(probe, [{priority, often}]), S(probe, [{min_heap_size, 1000}]),
     S(probe, link), S(probe, [{name, undefined}]), S(probe_bound, [{priority, normal}]), Error(fun() -> heddle_task:info(me) end),
     heddle_task:start_link(probe, refuse) =:= {error, {refused, Me}},
     text(heddle_task:start_link(probe, panic, [{name, never}])), whereis(never), heddle_task:info(self())};

%% Terms of all kinds come through a task unchanged, in messages of all sizes.
test(echo) ->
    T = probe(),
    Ref = make_ref(),
    Fun = fun(X) -> {X, Ref} end,
    Big = binary:copy(<<"0123456789">>, 100000),
    Terms = [1, -(1 bsl 59) - 1, 1 bsl 200, 1.5, atom, 'ärger', [], {}, "string", <<>>, <<1:3>>, <<"small">>, Big,
             binary:part(Big, 5, 1000), #{}, #{a => 1, {b} => [2]}, maps:from_list([{I, {I}} || I <- lists:seq(1, 100)]), self(), Ref,
             fun lists:map/2, Fun, hd(erlang:ports()), lists:seq(1, 10000), [a | b], {[{[{deep, Big}]}]}],
    Same = [ask(T, echo, X) =:= X || X <- Terms],
    {lists:usort(Same), ((ask(T, echo, Fun))(1)) =:= {1, Ref}, stop(T)};

%% Messages of several senders arrive in the order of each.
test(order) ->
    T = probe(),
    N = 500,
    Sum = fun() -> [T ! {echo, self(), I} || I <- lists:seq(1, N)], [receive {echo, I} -> I end || I <- lists:seq(1, N)], flush() end,
    Senders = [spawn_monitor(fun() -> exit(Sum()) end) || _ <- lists:seq(1, 8)],
    Left = [receive {'DOWN', M, _, _, R} -> R end || {_, M} <- Senders],
    {lists:usort(Left), stop(T)};

test(link_task_ends) ->
    process_flag(trap_exit, true),
    {ok, T} = heddle_task:start_link(probe, none),
    T ! {stop, self(), {my, reason}},
    {'EXIT', T, Reason} = next(),
    process_flag(trap_exit, false),
    %% A process that does not trap exits ends with it.
    {P, M} = spawn_monitor(fun() -> {ok, U} = heddle_task:start_link(probe, none), U ! {stop, self(), crash}, receive after infinity -> ok end end),
    receive {'DOWN', M, process, P, Why} -> {Reason, Why} end;

test(link_process_ends) ->
    Me = self(),
    P = spawn(fun() -> {ok, T} = heddle_task:start_link(probe, Me), Me ! {task, T}, receive Reason -> exit(Reason) end end),
    {task, T} = next(),
    M = monitor(process, T),
    Links = process_info(T, links) =:= {links, [P]},
    P ! the_end,
    {terminate, T, Reason} = next(),
    receive {'DOWN', M, process, T, Down} -> {Links, Reason, Down} end;

%% It links itself to a process, which is already gone the second time.
test(link_by_task) ->
    Me = self(),
    {ok, T} = heddle_task:start(probe, Me),
    P = spawn(fun() -> receive Reason -> exit(Reason) end end),
    ok = ask(T, link, P),
    {links, [T]} = process_info(P, links),
    P ! over,
    {terminate, T, Reason} = next(),
    {ok, U} = heddle_task:start(probe, Me),
    U ! {link, Me, P},
    {link, ok} = next(),
    {terminate, U, Gone} = next(),
    {Reason, Gone};

test(unlink_by_task) ->
    {ok, T} = heddle_task:start_link(probe, none),
    ok = ask(T, unlink, self()),
    {links, Mine} = process_info(self(), links),
    {process_info(T, links), lists:member(T, Mine), stop(T)};

test(trap) ->
    T = probe(),
    ok = ask(T, trap, true),
    {trap_exit, true} = process_info(T, trap_exit),
    Me = self(),
    exit(T, reason),
    {other, {'EXIT', Me, reason}} = next(),
    %% Then it hears of the end of the process that it is linked to, and its own end is told by the watcher.
    P = spawn(fun() -> receive _ -> exit(over) end end),
    ok = ask(T, link, P),
    P ! go,
    {other, {'EXIT', P, Over}} = next(),
    exit(T, kill),
    {terminate, T, Killed} = next(),
    {Over, Killed};

test(monitor) ->
    T = probe(),
    P = spawn(fun() -> receive Reason -> exit(Reason) end end),
    ok = ask(T, monitor, P),
    {monitors, [{process, P}]} = process_info(T, monitors),
    {monitored_by, [T]} = process_info(P, monitored_by),
    P ! bye,
    {down, {'DOWN', R, process, P, Reason}} = next(),
    ok = ask(T, monitor, P),
    {down, {'DOWN', _, process, P, Gone}} = next(),
    M = monitor(process, T),
    {monitored_by, [Me]} = process_info(T, monitored_by),
    T ! {stop, self(), done},
    {lists:sort([tagged(next()), tagged(next())]), Me =:= self(), is_reference(R), Reason, Gone, M =/= R};

test(demonitor) ->
    T = probe(),
    ok = ask(T, monitor, self()),
    true = ask(T, demonitor, none),
    %% That goes from one process to the other as a signal.
    {monitored_by, Watchers} = process_info(self(), monitored_by),
    {lists:member(T, Watchers), ask(T, demonitor, none), begin exit(T, kill), element(1, next()) end};

test(names) ->
    {ok, T} = heddle_task:start(probe, none, [{name, heddle_probe}]),
    Taken = heddle_task:start(probe, none, [{name, heddle_probe}]) =:= {error, {already_started, T}},
    heddle_probe ! {echo, self(), by_name},
    {echo, by_name} = next(),
    {registered_name, heddle_probe} = process_info(T, registered_name),
    Second = ask(T, register, other),
    M = monitor(process, heddle_probe),
    stop(T),
    {'DOWN', M, process, {heddle_probe, _}, shutdown} = next(),
    U = probe(),
    Registers = ask(U, register, heddle_probe),
    U = whereis(heddle_probe),
    unregister(heddle_probe),
    register(heddle_again, U),
    {Taken, Second, Registers, lists:member(heddle_again, registered()), stop(U), whereis(heddle_again)};

test(timeout) ->
    T = probe(),
    Start = erlang:monotonic_time(millisecond),
    timeout = ask(T, timer, 50),
    Passed = erlang:monotonic_time(millisecond) - Start,
    %% Cancelled; set again; events come first, and the timer stays.
    T ! {timer, self(), 30},
    ok = ask(T, cancel, none),
    none = receive {timer, timeout} -> early after 100 -> none end,
    T ! {timer, self(), 600000},
    timeout = ask(T, timer, 10),
    T ! {timer, self(), 60},
    [x = ask(T, echo, x) || _ <- lists:seq(1, 20)],
    timeout = receive {timer, W} -> W after 20000 -> none end,
    %% It ends with a timer set.
    T ! {timer, self(), 20},
    {Passed >= 50, stop(T), receive {timer, _} -> late after 60 -> none end};

%% Work in parts: it uses reductions, others run meanwhile, events come between.
test(idle) ->
    T = probe(),
    {reductions, Before} = process_info(T, reductions),
    T ! {work, self(), 2000},
    answered = ask(T, echo, answered),
    {work, done} = next(),
    {reductions, After} = process_info(T, reductions),
    {After - Before >= 200000, After - Before < 250000, stop(T)};

test(info) ->
    T = probe([{priority, 9}]),
    Me = self(),
    [T ! {echo, Me, I} || I <- lists:seq(1, 3)],
    [receive {echo, _} -> ok end || _ <- lists:seq(1, 3)],
    All = process_info(T),
    Get = fun(Key) -> element(2, lists:keyfind(Key, 1, All)) end,
    {parent, Parent} = process_info(T, parent),
    {group_leader, Leader} = process_info(T, group_leader),
    Status = case Get(status) of waiting -> ok; runnable -> ok; Other -> Other end,
    R = {Get(initial_call), Get(current_function), Status, Get(message_queue_len), Get(dictionary), Get(trap_exit), Get(priority),
         heddle_task:info(T), process_info(T, task) =:= {task, heddle_task:info(T)}, process_info(Me, task), Parent =:= Me,
         Leader =:= group_leader(), process_info(T, [current_stacktrace, current_location, messages, catchlevel]),
         [K || K <- [memory, heap_size, total_heap_size, reductions], element(2, process_info(T, K)) =< 0],
         is_binary(element(2, process_info(T, backtrace))), element(2, process_info(T, memory)) < 2000},
    stop(T),
    {R, heddle_task:info(T), process_info(T)};

test(listing) ->
    T = probe(),
    [Facts] = [F || #{type := probe} = F <- [element(2, process_info(P, task)) || P <- processes()], F =/= undefined],
    Row = [place || {P, #{place := any}} <- heddle_sched:list(), P =:= T],
    Types = maps:with([pacer, probe, probe_bound], heddle_task:types()),
    {lists:member(T, processes()), Facts, Row, Types, erlang:module_loaded(heddle_task),
     lists:member({start_link, 3}, heddle_task:module_info(exports)), stop(T)};

test(suspend) ->
    T = probe(),
    %% It is set up, and waits.
    x = ask(T, echo, x),
    true = erlang:suspend_process(T),
    T ! {echo, self(), late},
    Status = process_info(T, status),
    nothing = receive {echo, _} -> early after 50 -> nothing end,
    Len = process_info(T, message_queue_len),
    true = erlang:resume_process(T),
    {echo, late} = next(),
    %% Killed while suspended.
    erlang:suspend_process(T),
    {Status, Len, stop(T)};

test(kill) ->
    {ok, T} = heddle_task:start(probe, self()),
    M = monitor(process, T),
    exit(T, kill),
    {terminate, T, Reason} = next(),
    receive {'DOWN', M, process, T, Down} -> {Reason, Down, is_process_alive(T)} end;

%% Normal exit signals of others do nothing; it sends exit signals itself.
test(exits) ->
    {ok, T} = heddle_task:start(probe, self()),
    exit(T, normal),
    alive = ask(T, echo, alive),
    {P, M} = spawn_monitor(fun() -> T ! {exit, self(), from_task}, receive after infinity -> ok end end),
    receive {'DOWN', M, process, P, Why} -> ok end,
    T ! {stop, self(), normal},
    {terminate, T, Reason} = next(),
    {Why, Reason};

%% What waits in its queue when it ends is lost; what asks hears of its end.
test(stops) ->
    {ok, T} = heddle_task:start(probe, none),
    erlang:suspend_process(T),
    T ! {stop, self(), first},
    [T ! {echo, self(), I} || I <- lists:seq(1, 10)],
    M = monitor(process, T),
    erlang:resume_process(T),
    receive {'DOWN', M, process, T, Reason} -> {Reason, flush()} end;

test(collect) ->
    T = probe(),
    erlang:suspend_process(T),
    Big = [{I, <<I:2048>>} || I <- lists:seq(1, 200)],
    [T ! {echo, self(), {I, Big}} || I <- lists:seq(1, 20)],
    true = erlang:garbage_collect(T),
    erlang:resume_process(T),
    Same = [receive {echo, {I, B}} -> B =:= Big end || I <- lists:seq(1, 20)],
    true = erlang:garbage_collect(T),
    {lists:usort(Same), element(2, process_info(T, total_heap_size)) < 1000, stop(T)};

%% What it sends leaves nothing in its heap.
test(sends) ->
    T = probe(),
    Deaf = spawn_link(fun() -> receive stop -> ok end end),
    Message = lists:seq(1, 1000),
    ok = ask(T, echo, ok),
    {_, Before} = process_info(T, total_heap_size),
    T ! {fan, self(), [{Deaf, Message} || _ <- lists:seq(1, 100)]},
    ok = ask(T, echo, ok),
    {_, After} = process_info(T, total_heap_size),
    {_, Sent} = process_info(Deaf, message_queue_len),
    unlink(Deaf),
    exit(Deaf, kill),
    {Sent, After < Before + 50_000, stop(T)};

%% Messages from threads that are none of the machine's.
test(threads) ->
    {ok, T} = heddle_task:start(probe, self()),
    [T ! {thread, self(), {sent, I}} || I <- lists:seq(1, 10)],
    Got = lists:sort([next() || _ <- lists:seq(1, 10)]),
    exit(T, kill),
    {terminate, T, killed} = next(),
    {length(Got), hd(Got), lists:last(Got)};

test(levels) ->
    T = probe([{priority, low}]),
    Level = fun() -> #{level := L} = heddle_task:info(T), {L, element(2, process_info(T, priority))} end,
    First = Level(),
    Set = [begin true = ask(T, level, L), Level() end || L <- [0, 7, 8, 15, 16, 23, 24, 31]],
    {First, Set, ask(T, level, 32), stop(T)};

%% A type that keeps to levels 8 to 15 and has a thread of its own, where it may block: no process waits for that.
test(bound) ->
    {ok, T} = heddle_task:start(probe_bound, none),
    {placement, #{place := {private, _}}} = process_info(T, placement),
    T ! {block, self(), {1000, ok}},
    U = probe(),
    Rounds = [ask(U, echo, I) || I <- lists:seq(1, 100)],
    blocks = receive {block, _} -> over after 0 -> blocks end,
    ok = receive {block, Ok} -> Ok end,
    Levels = [ask(T, level, L) || L <- [7, 8, 15, 16]],
    {ok, V} = heddle_task:start(probe_bound, none, [{thread, shared}, {priority, 15}]),
    {placement, #{place := Place}} = process_info(V, placement),
    {length(Rounds), Levels, Place, stop(T), stop(U), stop(V)};

%% What it was sent is there when it goes on, whatever the others collected meanwhile.
test(blocked) ->
    {ok, T} = heddle_task:start(probe_bound, none),
    Same = [begin
                T ! {block, self(), {50, {N, lists:seq(N, 5000), binary:copy(<<N>>, 1000)}}},
                [begin lists:seq(1, 20_000), garbage_collect() end || _ <- lists:seq(1, 5)],
                receive {block, Answer} -> Answer =:= {N, lists:seq(N, 5000), binary:copy(<<N>>, 1000)} end
            end || N <- lists:seq(1, 5)],
    {lists:usort(Same), stop(T)};

%% It goes from scheduler to scheduler, to a thread of its own and back, and loses nothing.
test(placed) ->
    N = erlang:system_info(schedulers_online),
    T = probe([{scheduler, 1}]),
    {place, {pinned, 1}} = {place, maps:get(place, heddle_sched:place(T))},
    Me = self(),
    P = spawn_link(fun() -> [T ! {echo, Me, I} || I <- lists:seq(1, 2000)] end),
    _ = [begin heddle_sched:pin(T, I rem N + 1), heddle_sched:private(T), heddle_sched:shared(T) end || I <- lists:seq(1, 10)],
    unlink(P),
    Got = [receive {echo, I} -> I end || I <- lists:seq(1, 2000)],
    {length(Got), maps:get(place, heddle_sched:place(T)), stop(T)};

test(traced) ->
    T = probe(),
    erlang:trace(T, true, [send, 'receive', procs, running, exiting]),
    x = ask(T, echo, x),
    Me = self(),
    T ! {stop, Me, over},
    Ref = monitor(process, T),
    receive {'DOWN', Ref, _, _, _} -> ok end,
    Events = trace_until_gone(T),
    [E || E <- Events, element(3, E) =/= in, element(3, E) =/= out] =:=
        [{trace, T, 'receive', {echo, Me, x}}, {trace, T, send, {echo, x}, Me}, {trace, T, 'receive', {stop, Me, over}}, {trace, T, exit, over}];

%% Ten thousand at a time and one after the other: all are freed.
test(many) ->
    N = 10000,
    settle(0),
    Processes = erlang:system_info(process_count),
    Tasks = [begin {ok, {T, M}} = heddle_task:start(probe, none, [monitor]), {T, M} end || _ <- lists:seq(1, N)],
    Living = living(),
    [T ! {timer, self(), 3600000} || {T, _} <- Tasks],
    [T ! {stop, self(), I} || {I, {T, _}} <- lists:enumerate(Tasks)],
    Reasons = [receive {'DOWN', M, process, _, R} -> R end || {_, M} <- Tasks],
    settle(0),
    Ends = [begin {ok, {T, M}} = heddle_task:start(probe, none, [monitor]), exit(T, kill), receive {'DOWN', M, _, _, R} -> R end end
            || _ <- lists:seq(1, 2000)],
    settle(0),
    {Living, Reasons =:= lists:seq(1, N), lists:usort(Ends), living(), erlang:system_info(process_count) - Processes < 20}.

tagged({terminate, _, R}) -> {terminate, R};
tagged({'DOWN', _, _, _, R}) -> {'DOWN', R}.

text({error, {task_panic, Type, Text}}) -> {task_panic, Type, hd(string:split(Text, " ("))}.

%% The last of a process is that it is taken off its scheduler.
trace_until_gone(T) ->
    receive
        {trace, T, exit, _} = E ->
            receive {trace, T, out_exited, 0} -> [E] after 20000 -> timeout end;
        E when element(1, E) =:= trace -> [E | trace_until_gone(T)]
    after 20000 -> timeout
    end.
