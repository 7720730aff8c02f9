%% send_after and start_timer: delivery, order, to names, absolute times.
-module(timers_send_after).
-export([main/1]).

main(_) ->
    R = erlang:start_timer(5, self(), msg),
    t:w(start_timer, receive {timeout, R, M} -> M end),
    erlang:send_after(5, self(), plain),
    t:w(send_after, receive P -> P end),
    erlang:send_after(0, self(), zero),
    t:w(zero, receive Z -> Z end),
    [erlang:send_after(T, self(), T) || T <- [60, 20, 40, 1, 80]],
    t:w(order, [receive X -> X end || _ <- [1, 2, 3, 4, 5]]),
    register(timer_me, self()),
    erlang:send_after(1, timer_me, named),
    t:w(named, receive N -> N end),
    erlang:send_after(1, no_such_name_here, lost),
    unregister(timer_me),
    Abs = erlang:monotonic_time(millisecond) + 10,
    erlang:send_after(Abs, self(), abs, [{abs, true}]),
    t:w(abs, receive abs -> erlang:monotonic_time(millisecond) >= Abs end),
    erlang:start_timer(erlang:monotonic_time(millisecond) - 100, self(), past, [{abs, true}]),
    t:w(past, receive {timeout, _, past} -> ok end),
    Dead = spawn(fun() -> ok end),
    t:w(dead, is_reference(erlang:send_after(1, Dead, x))),
    T0 = erlang:monotonic_time(),
    erlang:send_after(30, self(), late),
    receive late -> ok end,
    t:w(not_early, erlang:convert_time_unit(erlang:monotonic_time() - T0, native, millisecond) >= 30),
    t:all({erlang, send_after}, [[-1, self(), x], [1, x, y, [foo]], [1.5, self(), x], [1 bsl 66, self(), x], [1, {a, b}, x], [1, self(), x, [{abs, maybe_}]]]),
    t:w(none_left, receive Y -> Y after 20 -> none end).
