%% A process whose heap is found too large by a collection that another one asks for ends, whatever it does just then.
-module(max_heap_asked).
-export([main/1]).

main(_) -> t:w(reasons, lists:usort([ended() || _ <- lists:seq(1, 300)])).

ended() ->
    Options = [monitor, {max_heap_size, #{size => 1024, error_logger => false}}, {message_queue_data, on_heap}],
    {Pid, Ref} = spawn_opt(fun() -> receive never -> ok end end, Options),
    [Pid ! lists:duplicate(N, N) || N <- lists:seq(1, 60)],
    erlang:garbage_collect(Pid),
    receive {'DOWN', Ref, process, Pid, Why} -> Why after 5000 -> {lives, process_info(Pid, total_heap_size)} end.
