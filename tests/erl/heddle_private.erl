%% Private threads: there and back with all messages, what blocks there, what runs there, and that nothing is left of them.
-module(heddle_private).
-export([main/1]).

main(_) ->
    erts_debug:set_internal_state(available_internal_state, true),
    Before = t:threads(),
    there_and_back(),
    another(),
    works(),
    blocks(),
    ends(),
    blocked(),
    traced(),
    too_many(),
    io:format("threads left: ~p~n", [t:threads_left(Before)]).

id() -> erlang:system_info(scheduler_id).

%% All scheduler threads have lower numbers.
normal() -> erlang:system_info(schedulers) + erlang:system_info(dirty_cpu_schedulers) + erlang:system_info(dirty_io_schedulers).

there_and_back() ->
    Seen = [begin
                ok = heddle_sched:private(self()),
                ok = heddle_sched:private(self()),
                There = id(),
                #{place := {private, There}} = heddle_sched:place(self()),
                {placement, #{place := {private, There}}} = process_info(self(), placement),
                ok = heddle_sched:shared(self()),
                #{place := any} = heddle_sched:place(self()),
                There > normal() andalso id() =< erlang:system_info(schedulers)
            end || _ <- lists:seq(1, 20)],
    io:format("there and back: ~p~n", [lists:usort(Seen)]).

serve() ->
    receive
        {From, id} -> From ! {self(), id()}, serve();
        {From, Do} -> From ! {self(), Do()}, serve()
    end.

ask(P, What) -> P ! {self(), What}, receive {P, Answer} -> Answer end.

another() ->
    P = spawn(fun serve/0),
    Q = spawn_opt(fun serve/0, [{thread, private}]),
    ok = heddle_sched:private(P),
    A = ask(P, id),
    B = ask(Q, id),
    true = A =/= B,
    [true = ask(X, id) > normal() || X <- [P, Q], _ <- lists:seq(1, 100)],
    [{P, #{place := {private, A}}}] = [E || {X, _} = E <- heddle_sched:list(), X =:= P],
    ok = heddle_sched:shared(P),
    ok = heddle_sched:pin(Q, 1),
    %% Each of them that still runs, after its last answer, ends that slice where it is.
    [wait_for_slice(X) || X <- [P, Q]],
    io:format("another: ~p~n", [{ask(P, id) =< normal(), ask(Q, id)}]),
    [exit(X, kill) || X <- [P, Q]].

%% (`process_info` says that it waits as soon as it answers from its `receive`, in that slice still.)
wait_for_slice(P) ->
    case erts_debug:get_internal_state({process_status, P}) of
        waiting -> ok;
        _ -> erlang:yield(), wait_for_slice(P)
    end.

%% Timeouts, timers, suspension, collections small and long, links, monitors, tables, children.
works() ->
    Self = self(),
    P = spawn_opt(fun() -> process_flag(trap_exit, true), serve() end, [{thread, private}, link]),
    Timeout = ask(P, fun() -> T = erlang:monotonic_time(millisecond), receive never -> ok after 30 -> erlang:monotonic_time(millisecond) - T >= 30 end end),
    erlang:send_after(10, P, {Self, id}),
    Timer = receive {P, Id} -> Id > normal() end,
    ask(P, fun() -> erlang:send_after(10, Self, from_there) end),
    Sent = receive from_there -> ok end,
    true = erlang:suspend_process(P),
    P ! {Self, id},
    Suspended = receive {P, _} -> resumed after 30 -> suspended end,
    {status, suspended} = process_info(P, status),
    true = erlang:resume_process(P),
    receive {P, _} -> ok end,
    Collected = ask(P, fun() -> L = lists:seq(1, 1000000), true = erlang:garbage_collect(), lists:sum(L) end),
    true = erlang:garbage_collect(P),
    Child = ask(P, fun() -> C = spawn_link(fun() -> exit(done) end), receive {'EXIT', C, R} -> R end end),
    File = ask(P, fun() -> {ok, B} = file:read_file("/proc/self/status"), is_binary(B) end),
    Table = ask(P, fun() -> T = ets:new(t, []), ets:insert(T, [{I} || I <- lists:seq(1, 1000)]), ets:info(T, size) end),
    Placed = ask(P, id) > normal(),
    unlink(P),
    M = monitor(process, P),
    exit(P, {shutdown, by_us}),
    {messages, _} = process_info(P, messages),
    exit(P, kill),
    Down = receive {'DOWN', M, _, _, Reason} -> Reason end,
    io:format("works: ~p~n", [{Timeout, Timer, Sent, Suspended, Collected, Child, File, Table, Placed, Down}]).

%% More than there are dirty threads, and more than there are schedulers: no process waits for another, or for them.
blocks() ->
    Count = 2 * erlang:system_info(dirty_io_schedulers) + erlang:system_info(schedulers),
    Self = self(),
    Start = erlang:monotonic_time(millisecond),
    Ps = [spawn_opt(fun() -> receive go -> ok end,
                             case I rem 2 of
                                 0 -> ok = erts_debug:dirty_io(wait, 500);
                                 1 -> ok = erts_debug:dirty(normal, wait, 500)
                             end,
                             Self ! {self(), erlang:monotonic_time(millisecond)}
                    end, [{thread, private}, link]) || I <- lists:seq(1, min(Count, 100))],
    Ready = erlang:monotonic_time(millisecond),
    [P ! go || P <- Ps],
    %% Meanwhile files are read, on the dirty threads, and others run.
    {ok, _} = file:read_file("/proc/self/status"),
    [begin {X, R} = spawn_monitor(fun() -> lists:sum(lists:seq(1, 1000)) end), receive {'DOWN', R, _, X, normal} -> ok end end || _ <- lists:seq(1, 100)],
    Others = erlang:monotonic_time(millisecond),
    Blocked = [P || P <- Ps, is_process_alive(P)],
    Ends = [receive {P, T} -> T end || P <- Ps],
    %% (One after the other they would take 500 ms each.)
    Factor = case length(Blocked) of 0 -> 0; _ -> 1 end,
    io:format("blocks: ~p~n", [{Factor * (lists:max(Ends) - Start) =< 5000 + (Ready - Start), Others =< lists:max(Ends) orelse {Others - Start, lists:max(Ends) - Start}}]).

%% Killed while it waits, while it works, while its native blocks.
ends() ->
    Work = fun F() -> lists:sum(lists:seq(1, 100)), F() end,
    Reasons = [begin
                   {P, M} = spawn_opt(F, [{thread, private}, monitor]),
                   receive after 20 -> ok end,
                   How =:= by_itself orelse exit(P, kill),
                   receive {'DOWN', M, _, _, Reason} -> Reason end
               end || {How, F} <- [{waits, fun serve/0}, {works, Work}, {blocks, fun() -> erts_debug:dirty_io(wait, 300) end},
                                   {blocks, fun() -> erts_debug:dirty_cpu(wait, 300) end}, {by_itself, fun() -> exit(by_itself) end}]],
    io:format("ends: ~p~n", [Reasons]).

%% While multi-scheduling is blocked it runs on the first scheduler, from when the process that blocks goes on.
blocked() ->
    P = spawn_opt(fun serve/0, [{thread, private}]),
    There = ask(P, id) > normal(),
    case erlang:system_flag(multi_scheduling, block) of
        disabled -> ok;
        blocked -> [1, 1, 1] = [ask(P, id) || _ <- [1, 2, 3]]
    end,
    _ = erlang:system_flag(multi_scheduling, unblock),
    io:format("blocked: ~p~n", [{There, ask(P, id) > normal()}]),
    exit(P, kill),
    %% Also if it is in the middle of something each time.
    Q = spawn_opt(fun() -> count(0) end, [{thread, private}]),
    io:format("blocked at work: ~p~n", [lists:usort([blocked_once(Q) || _ <- lists:seq(1, 20)])]),
    exit(Q, kill).

blocked_once(Q) ->
    There = ask(Q, id) > normal(),
    Here = case erlang:system_flag(multi_scheduling, block) of
               disabled -> true;
               blocked -> ask(Q, id) =:= 1
           end,
    _ = erlang:system_flag(multi_scheduling, unblock),
    {There, Here}.

count(N) ->
    receive
        {From, id} -> From ! {self(), id()}, count(N)
    after 0 -> count(N + 1)
    end.

traced() ->
    P = spawn_opt(fun serve/0, [{thread, private}]),
    %% (Else the request may reach it in its first slice, which began before it was traced.)
    wait_for_slice(P),
    1 = erlang:trace(P, true, [running, 'receive', send, procs, garbage_collection]),
    _ = ask(P, fun() -> erlang:garbage_collect() end),
    Self = self(),
    io:format("traced: ~p~n", [[receive {trace, P, in, _} -> in end, receive {trace, P, 'receive', {Self, _}} -> 'receive' end,
                                receive {trace, P, gc_major_start, _} -> gc end, receive {trace, P, send, _, Self} -> send end,
                                receive {trace, P, out, _} -> out end]]),
    erlang:trace(P, false, [all]),
    _ = ask(P, id),
    exit(P, kill),
    flush().

flush() -> receive M when element(1, M) =:= trace -> flush() after 10 -> ok end.

too_many() ->
    Ps = start([], 5),
    Answer = case length(Ps) of
        N when N =< 1024 -> [ask(P, id) > normal() || P <- Ps] =:= [true || _ <- Ps]
    end,
    P = spawn(fun serve/0),
    Error = try heddle_sched:private(P) catch error:system_limit:T -> map_size(heddle_sched:format_error(system_limit, T)) end,
    true = ask(P, id) =< normal(),
    [begin M = monitor(process, X), exit(X, kill), receive {'DOWN', M, _, _, killed} -> ok end end || X <- [P | Ps]],
    io:format("too many: ~p~n", [{Answer, Error}]).

start(Ps, Times) ->
    try spawn_opt(fun serve/0, [{thread, private}]) of
        P -> start([P | Ps], Times)
    catch
        %% Threads of processes that ended are on their way out.
        error:system_limit when Times =:= 0 -> Ps;
        error:system_limit -> receive after 100 -> start(Ps, Times - 1) end
    end.
