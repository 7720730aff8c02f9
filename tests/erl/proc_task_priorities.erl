%% Requests to a process of low priority that gets no turn are answered for a process that asks with a priority that does, not for others;
%% and many at once are all answered.
-module(proc_task_priorities).
-export([main/1]).
main(_) -> t:w(a, a()), t:w(large, large()), t:w(b, b()).
%% As `a`, with what takes long.
large() ->
    Prio = process_flag(priority, max),
    {PL, ML} = spawn_opt(fun() -> L = lists:seq(1, 1000000), receive sum -> lists:sum(L) end end, [{priority, low}, monitor]),
    ok = t:wait_until(fun() -> process_info(PL, status) =:= {status, waiting} end),
    MTLs = [spawn_opt(fun tok_loop/0, [{priority, max}, link]) || _ <- lists:seq(1, erlang:system_info(schedulers_online))],
    R = erlang:garbage_collect(PL),
    [begin unlink(P), exit(P, kill) end || P <- MTLs],
    exit(PL, kill),
    receive {'DOWN', ML, process, PL, killed} -> ok end,
    process_flag(priority, Prio),
    R.
tok_loop() -> tok_loop().
a() ->
    Prio = process_flag(priority, max),
    Master = self(),
    Executing = make_ref(),
    MTLs = [spawn_opt(fun () -> Master ! {self(), Executing}, tok_loop() end, [{priority, max}, {scheduler, S}, monitor, link]) || S <- lists:seq(1, erlang:system_info(schedulers_online))],
    [receive {P,Executing} -> ok end || {P,_} <- MTLs],
    {PL, ML} = spawn_opt(fun () -> tok_loop() end, [{priority, low}, monitor, link]),
    RL = rt(PL, low), RN = rt(PL, normal), RH = rt(PL, high),
    receive {system_task_test, _, _} -> t:w(unexpected, true) after 1000 -> ok end,
    RM = rt(PL, max),
    receive {system_task_test, RM, true} -> ok end,
    [begin unlink(P), exit(P, kill) end || {P,_} <- MTLs],
    [receive {'DOWN', M, process, P, killed} -> ok end || {P,M} <- MTLs],
    [receive {system_task_test, R, true} -> ok end || R <- [RH,RN,RL]],
    unlink(PL), exit(PL, kill),
    receive {'DOWN', ML, process, PL, killed} -> ok end,
    process_flag(priority, Prio).
rt(Pid, Prio) -> Ref = make_ref(), erts_internal:request_system_task(Pid, Prio, {system_task_test, Ref}), Ref.
b() ->
    Me = self(),
    HTLs = [spawn_monitor(fun() -> RL = [rt(Me,P) || _ <- lists:seq(1,100), P <- [low,normal,high,max]], [receive {system_task_test, R, true} -> ok end || R <- RL] end) || _ <- lists:seq(1, 200)],
    [receive {'DOWN', M, process, P, normal} -> ok end || {P,M} <- HTLs].
