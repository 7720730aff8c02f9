%% Processes whose messages are kept off the heap: same behaviour, changes in flight.
-module(recv_off_heap).
-export([main/1]).

main(_) -> Me = self(), P = spawn_opt(fun() -> receive go -> ok end, Me ! {sum, lists:sum([receive {n, N, _} -> N end || _ <- lists:seq(1, 5000)])} end, [{message_queue_data, off_heap}]), [P ! {n, N, [N, <<N:64>>]} || N <- lists:seq(1, 5000)], garbage_collect(P), t:w(len, process_info(P, message_queue_len)), P ! go, t:w(sum, receive {sum, S} -> S end), process_flag(message_queue_data, off_heap), [self() ! N || N <- lists:seq(1, 100)], process_flag(message_queue_data, on_heap), [self() ! N || N <- lists:seq(101, 200)], garbage_collect(), t:w(mixed, t:flush() =:= lists:seq(1, 200)).
