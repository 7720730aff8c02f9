%% spawn and its variants: options, results, failing initial calls.
-module(proc_spawn_opt).
-export([main/1]).

main(_) ->
    Me = self(),
    t:w(spawn3, (fun() -> spawn(erlang, send, [Me, hi]), receive hi -> hi end end)()),
    t:w(node, (fun() -> spawn(node(), fun() -> Me ! noded end), receive noded -> ok end end)()),
    [t:w(O, begin {P, M} = spawn_opt(fun() -> exit({ok, [process_info(self(), I) || I <- [priority, message_queue_data]]}) end, [monitor | O]), receive {'DOWN', M, _, P, R} -> R end end) ||
        O <- [[], [{priority, high}], [{priority, low}], [{message_queue_data, off_heap}], [{min_heap_size, 1000}], [{fullsweep_after, 0}], [{min_bin_vheap_size, 100000}], [{async_dist, true}]]],
    t:w(monitor_opts, (fun() -> {P2, M2} = spawn_opt(fun() -> ok end, [{monitor, [{tag, tagged}]}]), receive {tagged, M2, process, P2, R2} -> R2 end end)()),
    t:w(undef, (fun() -> {P3, M3} = spawn_monitor(no_module, no_function, [1, 2]), receive {'DOWN', M3, _, P3, {R3, [{A, B, C, _} | _]}} -> {R3, A, B, C} end end)()),
    t:w(badarity, (fun() -> {P4, M4} = spawn_opt(fun(_) -> ok end, [monitor]), receive {'DOWN', M4, _, P4, {{R4, {_, As}}, _}} -> {R4, As} end end)()),
    t:e(spawn_not_fun, fun() -> spawn(t:id(x)) end),
    t:e(spawn_bad_args, fun() -> spawn(lists, reverse, t:id(x)) end),
    t:e(spawn_improper, fun() -> spawn(lists, reverse, t:id([a | b])) end),
    t:e(opt_unknown, fun() -> spawn_opt(fun() -> ok end, [nope]) end),
    t:e(opt_improper, fun() -> spawn_opt(fun() -> ok end, [link | x]) end),
    t:w(request, (fun() -> R = spawn_request(fun() -> Me ! from_request end), receive {spawn_reply, R, ok, P5} -> is_pid(P5) end end)()),
    t:w(request_msg, receive from_request -> yes end),
    t:w(request_tag, (fun() -> Rt = spawn_request(fun() -> ok end, [{reply_tag, my_tag}]), receive {my_tag, Rt, W, _} -> W end end)()),
    t:w(request_none, (fun() -> spawn_request(fun() -> Me ! silent end, [{reply, no}]), receive silent -> t:flush() end end)()),
    t:w(request_error, (fun() -> Re = spawn_request(node(), fun() -> ok end, [bad_option]), receive {spawn_reply, Re, error, We} -> We end end)()),
    t:w(abandon, spawn_request_abandon(make_ref())),
    t:w(initial_call, (fun() -> {P6, M6} = spawn_monitor(fun() -> exit(process_info(self(), initial_call)) end), receive {'DOWN', M6, _, P6, R6} -> R6 end end)()),
    t:w(parent, (fun() -> {P7, M7} = spawn_monitor(fun() -> exit(process_info(self(), parent) =:= {parent, Me}) end), receive {'DOWN', M7, _, P7, R7} -> R7 end end)()),
    t:w(group_leader, (fun() -> {P8, M8} = spawn_monitor(fun() -> exit(group_leader()) end), receive {'DOWN', M8, _, P8, R8} -> R8 =:= group_leader() end end)()).
