%% A process that asks one of lower priority gets the answer although processes of a priority between the two never rest; and a
%% process whose native blocks on a dirty thread answers, changes and ends without waiting for the native.
-module(priority_of_asker).
-export([main/1]).

main(_) ->
    asks(),
    erts_debug:set_internal_state(available_internal_state, true),
    dirty_answers(),
    dirty_dies(),
    dirty_traps_exits().

asks() ->
    Idle = [spawn_opt(fun() -> receive after infinity -> ok end end, [link, {priority, normal}]) || _ <- lists:seq(1, 50)],
    %% Before them: they would not let us on.
    process_flag(priority, max),
    Busy = [spawn_opt(fun spin/0, [link, {priority, high}]) || _ <- lists:seq(1, 2 * erlang:system_info(schedulers))],
    receive after 100 -> ok end,
    Leader = group_leader(),
    [begin
         true = is_process_alive(P),
         {trap_exit, false} = process_info(P, trap_exit),
         true = group_leader(whereis(init), P),
         {group_leader, _} = process_info(P, group_leader),
         true = group_leader(Leader, P),
         true = garbage_collect(P)
     end || P <- Idle, _ <- [1, 2, 3]],
    [begin unlink(P), exit(P, kill), false = is_process_alive(P) end || P <- Idle],
    %% All at once: each ends when the thread that runs it has a core, and with many more threads than cores that is every 4 ms one.
    [begin unlink(P), exit(P, kill) end || P <- Busy],
    [false = is_process_alive(P) || P <- Busy],
    process_flag(priority, normal),
    io:format("asked~n").

spin() -> spin().

%% Below a second, of the three for which the native blocks.
quick(F) ->
    Start = erlang:monotonic_time(millisecond),
    Result = F(),
    case erlang:monotonic_time(millisecond) - Start of
        T when T < 2000 -> Result;
        T -> {took, T, Result}
    end.

dirty(Ms) ->
    Pid = spawn(fun() -> erts_debug:dirty_io(wait, Ms), receive {say, Who} -> Who ! {back, self()} end end),
    receive after 200 -> ok end,
    Pid.

dirty_answers() ->
    Pid = dirty(3000),
    io:format("~p~n", [quick(fun() -> is_process_alive(Pid) end)]),
    io:format("~p~n", [quick(fun() -> process_info(Pid, [status, message_queue_len]) end)]),
    Pid ! one,
    io:format("~p~n", [quick(fun() -> process_info(Pid, message_queue_len) end)]),
    Ref = monitor(process, Pid),
    link(Pid),
    io:format("~p~n", [quick(fun() -> {_, L} = process_info(Pid, links), lists:member(self(), L) end)]),
    unlink(Pid),
    true = demonitor(Ref),
    Pid ! {say, self()},
    receive {back, Pid} -> io:format("back~n") end.

dirty_dies() ->
    Pid = dirty(3000),
    Ref = monitor(process, Pid),
    exit(Pid, kill),
    io:format("~p~n", [quick(fun() -> receive {'DOWN', Ref, process, Pid, Why} -> Why end end)]),
    io:format("~p ~p ~p~n", [is_process_alive(Pid), process_info(Pid), lists:member(Pid, processes())]).

dirty_traps_exits() ->
    Me = self(),
    Pid = spawn(fun() ->
        process_flag(trap_exit, true),
        Me ! ready,
        ok = erts_debug:dirty_cpu(wait, 500),
        receive {'EXIT', Me, Why} -> exit({told, Why}) end
    end),
    receive ready -> ok end,
    Ref = monitor(process, Pid),
    exit(Pid, please),
    receive {'DOWN', Ref, process, Pid, Why} -> io:format("~p~n", [Why]) end.
