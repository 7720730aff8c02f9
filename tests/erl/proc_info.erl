%% process_info of the items whose value is the same in every run.
-module(proc_info).
-export([main/1]).

main(_) ->
    Me = self(),
    P = spawn(fun() -> put(k, v), register(pi_test, self()), Me ! ready, receive go -> loop() end end),
    receive ready -> ok end,
    t:wait_until(fun() -> process_info(P, status) =:= {status, waiting} end),
    P ! m1, P ! {m, 2},
    t:wait_until(fun() -> process_info(P, status) =:= {status, waiting} end),
    t:w(items, [process_info(P, I) || I <- [status, registered_name, message_queue_len, messages, links, dictionary, trap_exit, error_handler, priority, initial_call, monitors, monitored_by, suspending, sequential_trace_token, message_queue_data, {dictionary, k}, {dictionary, zz}]]),
    t:w(list, process_info(P, [status, message_queue_len, status, registered_name])),
    t:w(empty_list, process_info(P, [])),
    t:w(kinds, [is_integer(element(2, process_info(P, I))) || I <- [heap_size, stack_size, total_heap_size, reductions, memory, min_heap_size]]),
    t:w(current, process_info(P, current_function)),
    t:w(location, begin {current_location, {M, F, A, L}} = process_info(P, current_location), {M, F, A, proplists:get_value(line, L)} end),
    t:w(stack, [{M, F, A} || {M, F, A, _} <- element(2, process_info(P, current_stacktrace))]),
    t:w(leader, process_info(P, group_leader) =:= {group_leader, group_leader()}),
    t:w(all, lists:sort([K || {K, _} <- process_info(P)])),
    t:w(gc, lists:sort([K || {K, _} <- element(2, process_info(P, garbage_collection))])),
    t:w(max_heap, process_info(P, max_heap_size)),
    t:w(own, process_info(self(), [status, current_function])),
    t:w(own_binary, [{S, C} || {_, S, C} <- element(2, process_info(P, binary))]),
    exit(P, kill),
    t:wait_until(fun() -> process_info(P) =:= undefined end),
    t:w(dead, {process_info(P), process_info(P, status), process_info(P, [status]), is_process_alive(P)}),
    t:e(unknown, fun() -> process_info(self(), t:id(nothing)) end),
    t:e(unknown_list, fun() -> process_info(self(), [status, nothing]) end),
    t:e(improper, fun() -> process_info(self(), t:id([status | x])) end).
loop() -> receive never -> ok end.
