%% Monitors of pids and names, demonitor with its options, many at once.
-module(proc_monitors).
-export([main/1]).

main(_) ->
    P = spawn(fun() -> receive R -> exit(R) end end),
    M1 = monitor(process, P), M2 = monitor(process, P),
    P ! why,
    t:w(both, [receive {'DOWN', M, process, P, R} -> R end || M <- [M2, M1]]),
    t:w(noproc, (fun() -> M = monitor(process, P), receive {'DOWN', M, process, P, R} -> R end end)()),
    t:w(name_noproc, (fun() -> M = monitor(process, no_such), receive {'DOWN', M, process, {N, Node}, R} -> {N, Node =:= node(), R} end end)()),
    t:w(name_node, (fun() -> M = monitor(process, {no_such, node()}), receive {'DOWN', M, process, {N, _}, R} -> {N, R} end end)()),
    register(srv, spawn(fun() -> receive stop -> exit(stopped) end end)),
    t:w(name, (fun() -> M = monitor(process, srv), srv ! stop, receive {'DOWN', M, process, {N, _}, R} -> {N, R} end end)()),
    Q = spawn(fun() -> receive stop -> ok end end),
    D1 = monitor(process, Q),
    t:w(demonitor, {demonitor(D1), demonitor(D1), demonitor(D1, [info]), demonitor(make_ref(), [flush, info])}),
    D2 = monitor(process, Q),
    t:w(info, demonitor(D2, [info])),
    D3 = monitor(process, Q), Q ! stop, receive after 20 -> ok end,
    t:w(flush, {demonitor(D3, [flush, info]), t:flush()}),
    Many = [spawn_monitor(fun() -> exit(N) end) || N <- lists:seq(1, 500)],
    t:w(many, lists:sum([receive {'DOWN', M, process, X, R} -> R end || {X, M} <- Many])),
    t:w(self_monitor, is_reference(monitor(process, self()))),
    Z = spawn(fun() -> receive stop -> ok end end),
    Mz = monitor(process, Z),
    t:w(items, {process_info(self(), monitors) =:= {monitors, [{process, Z}]}, process_info(Z, monitored_by) =:= {monitored_by, [self()]}}),
    demonitor(Mz),
    t:w(items_after, {process_info(self(), monitors), process_info(Z, monitored_by)}),
    t:w(tag, (fun() -> Mt = monitor(process, Z, [{tag, {my, tag}}]), Z ! stop, receive {{my, tag}, Mt, process, Z, R} -> R end end)()),
    t:e(bad_opt, fun() -> monitor(process, Z, [foo]) end),
    t:e(of_other, fun() -> Me = self(), spawn(fun() -> Me ! {m, monitor(process, Me)} end), receive {m, Mo} -> demonitor(Mo) end end),
    t:w(time_offset, (fun() -> Mo = monitor(time_offset, clock_service), {is_reference(Mo), demonitor(Mo)} end)()).
