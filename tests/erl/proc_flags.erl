%% process_flag: old values, each flag, wrong values.
-module(proc_flags).
-export([main/1]).

main(_) ->
    Flags = [{trap_exit, true}, {trap_exit, false}, {priority, high}, {priority, low}, {priority, max}, {priority, normal}, {min_heap_size, 500}, {min_bin_vheap_size, 50000}, {save_calls, 10}, {save_calls, 0},
        {sensitive, true}, {sensitive, false}, {message_queue_data, off_heap}, {message_queue_data, on_heap}, {fullsweep_after, 5}, {max_heap_size, 0}, {async_dist, true}, {async_dist, false}],
    {P, M} = spawn_monitor(fun() ->
        [t:e(F, fun() -> Old = process_flag(F, V), case F of min_bin_vheap_size -> is_integer(Old); min_heap_size -> is_integer(Old); fullsweep_after -> is_integer(Old); max_heap_size -> is_map(Old); _ -> Old end end) || {F, V} <- Flags],
        [t:e({F, V}, fun() -> process_flag(F, V) end) || {F, V} <- [{trap_exit, x}, {priority, urgent}, {min_heap_size, -1}, {min_heap_size, a}, {sensitive, 1}, {message_queue_data, foo}, {nosuch, 1}, {save_calls, -1}, {error_handler, 1}]],
        t:w(sizes, [element(2, process_info(self(), I)) || I <- [priority, trap_exit, message_queue_data]]),
        t:w(error_handler, process_flag(error_handler, my_handler)),
        t:w(error_handler_back, process_flag(error_handler, error_handler)) end),
    receive {'DOWN', M, _, P, R} -> t:w(ended, R) end,
    t:w(other, begin Q = spawn(fun() -> receive after infinity -> ok end end), X = process_flag(Q, save_calls, 5), exit(Q, kill), X end),
    t:e(other_bad, fun() -> process_flag(self(), trap_exit, true) end),
    {D, MD} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', MD, _, D, _} -> ok end,
    [t:e({save_calls, Who, V}, fun() -> process_flag(Pid, save_calls, V) end) || {Who, Pid} <- [{self, self()}, {dead, D}, {none, no_pid}, {init, whereis(init)}], V <- [no, 1 bsl 64, -1, 10001, 0]],
    [t:e({save_calls, V}, fun() -> process_flag(save_calls, V) end) || V <- [no, 1 bsl 64, 10001]],
    {K, MK} = spawn_monitor(fun() -> process_flag(max_heap_size, #{size => 5000, kill => true, error_logger => false}), lists:seq(1, 1000000) end),
    receive {'DOWN', MK, _, K, RK} -> t:w(max_heap, RK) end,
    t:w(heap_sizes, [begin {S, MS} = spawn_opt(fun() -> {_, H} = process_info(self(), min_heap_size), exit({H >= N, H < N * 3}) end, [monitor, {min_heap_size, N}]), receive {'DOWN', MS, _, S, RS} -> RS end end || N <- [300, 1000, 10000]]).
