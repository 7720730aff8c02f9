%% erlang:system_monitor: its arguments, large heaps, long message queues.
-module(system_monitor_limits).
-export([main/1]).

main(_) ->
    Me = self(),
    io:format("~p~n", [[begin erlang:system_monitor(Me, O), element(2, erlang:system_monitor()) end
                        || O <- [[{long_gc, 0}], [{large_heap, 5}], [{large_heap, 70000}], [{long_schedule, 0}],
                                 [busy_port, busy_dist_port, {long_gc, 1}, {long_message_queue, {9, 10}}]]]]),
    io:format("~p~n", [[try erlang:system_monitor(W, O) catch error:R -> R end
                        || {W, O} <- [{Me, [{long_gc, -1}]}, {Me, [nonsense]}, {nobody, [busy_port]}, {Me, [{long_message_queue, {2, 2}}]},
                                      {Me, [busy_port | x]}]]]),
    erlang:system_monitor(Me, [{large_heap, 65535}, {long_message_queue, {5, 10}}]),
    P = spawn_opt(fun() -> garbage_collect(), receive go -> ok end, fill(4) end, [{min_heap_size, 131070}]),
    receive {monitor, P, large_heap, Info} -> io:format("large_heap ~p~n", [[K || {K, _} <- Info]]) end,
    [P ! N || N <- lists:seq(1, 12)],
    receive {monitor, P, long_message_queue, true} -> io:format("long~n") end,
    P ! go,
    receive {monitor, P, long_message_queue, false} -> io:format("short again~n") end,
    receive {monitor, P, long_message_queue, More} -> io:format("too much: ~p~n", [More]) after 100 -> ok end,
    {Me, _} = erlang:system_monitor(undefined),
    io:format("~p~n", [erlang:system_monitor()]).

fill(Left) ->
    case process_info(self(), message_queue_len) of
        {_, N} when N > Left -> receive _ -> fill(Left) end;
        _ -> receive never -> ok end
    end.
