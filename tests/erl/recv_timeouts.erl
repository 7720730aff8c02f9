%% Time limits: zero, short, infinity, wrong ones, and when the queue is not empty.
-module(recv_timeouts).
-export([main/1]).

main(_) ->
    t:w(zero, receive _ -> some after 0 -> none end),
    self() ! m,
    t:w(zero_full, receive X -> X after 0 -> none end),
    self() ! other,
    t:w(zero_nomatch, receive m -> m after 0 -> none end),
    t:w(short_nomatch, receive m -> m after 10 -> none end),
    t:w(kept, t:flush()),
    t:w(only_after, receive after 1 -> passed end),
    T0 = erlang:monotonic_time(millisecond),
    receive after 50 -> ok end,
    D = erlang:monotonic_time(millisecond) - T0,
    t:w(waited, D >= 50 andalso D < 2000),
    erlang:send_after(5, self(), tick),
    t:w(infinity, receive tick -> tick after infinity -> never end),
    t:w(variable, [receive after T -> T end || T <- [0, 1, 2]]),
    t:e(atom, fun() -> receive after t:id(foo) -> no end end),
    t:e(negative, fun() -> receive after t:id(-1) -> no end end),
    t:e(float, fun() -> receive after t:id(1.0) -> no end end),
    t:e(too_big, fun() -> receive after t:id(1 bsl 40) -> no end end),
    self() ! there,
    t:e(bad_but_message, fun() -> receive there -> got after t:id(16#ffffffff) -> no end end),
    P = self(),
    [spawn(fun() -> receive after 50 * (6 - I) -> P ! I end end) || I <- lists:seq(1, 5)],
    t:w(sleep_sort, [receive I -> I end || _ <- lists:seq(1, 5)]),
    t:w(loop, loop(100)).
loop(0) -> done;
loop(N) -> receive never -> ok after 0 -> loop(N - 1) end.
