%% erlang:hibernate: the stack is gone, the heap and the dictionary are not.
-module(proc_hibernate).
-export([main/1]).
-export([woken/2, again/1]).
main(_) ->
    Me = self(),
    P = spawn(fun() -> put(key, kept), L = lists:seq(1, 1000), Me ! ready, erlang:hibernate(?MODULE, woken, [Me, L]) end),
    receive ready -> ok end,
    t:w(waiting, t:wait_until(fun() -> process_info(P, current_function) =:= {current_function, {erlang, hibernate, 3}} end)),
    {total_heap_size, S} = process_info(P, total_heap_size),
    t:w(small, S < 4000),
    %% Signals that are no messages do not end it.
    Mon = monitor(process, P), link(P), true = erlang:garbage_collect(P), unlink(P), demonitor(Mon),
    t:w(still, [process_info(P, current_function) || _ <- [1, 2, 3]]),
    P ! hello,
    t:w(woken, receive {woken, X} -> X end),
    P ! again,
    t:w(again, receive {again, Y} -> Y end),
    {Q, M} = spawn_monitor(fun() -> try self() ! x, erlang:hibernate(?MODULE, again, [Me]) catch C:R -> Me ! {caught, C, R} end end),
    t:w(message_already, receive {again, Z} -> Z end),
    receive {'DOWN', M, _, Q, W} -> t:w(ended, W) end,
    {B, MB} = spawn_monitor(fun() -> self() ! x, erlang:hibernate(no_module_at_all, f, []) end),
    t:w(undef, receive {'DOWN', MB, _, B, {undef, [{A, F, _, _} | _]}} -> {A, F} end),
    t:e(bad, fun() -> erlang:hibernate(t:id(1), f, []) end),
    t:e(bad_args, fun() -> erlang:hibernate(m, f, t:id(x)) end).
woken(Me, L) -> receive M -> Me ! {woken, {M, lists:sum(L), get(key)}} end, erlang:hibernate(?MODULE, again, [Me]).
again(Me) -> receive M -> Me ! {again, M} end.
