%% Thousands of timers at once, and the timer module.
-module(timers_many).
-export([main/1]).

main(_) ->
    [erlang:send_after(N rem 50, self(), {t, N}) || N <- lists:seq(1, 10000)],
    t:w(sum, lists:sum([receive {t, N} -> N end || _ <- lists:seq(1, 10000)])),
    Me = self(),
    [spawn(fun() -> receive after N rem 20 -> Me ! {s, N} end end) || N <- lists:seq(1, 1000)],
    t:w(sleepers, lists:sum([receive {s, N} -> N end || _ <- lists:seq(1, 1000)])),
    {ok, I} = timer:send_interval(5, tick),
    t:w(interval, [receive tick -> ok end || _ <- [1, 2, 3]]),
    t:w(cancel, timer:cancel(I)),
    {ok, _} = timer:apply_after(1, erlang, send, [Me, applied]),
    t:w(applied, receive applied -> yes end),
    t:w(tc, begin {T, V} = timer:tc(fun() -> timer:sleep(2), v end), {T >= 2000, V} end),
    t:w(units, {timer:seconds(2), timer:minutes(1), timer:hours(1), timer:hms(1, 1, 1)}),
    P = spawn(fun() -> receive after infinity -> ok end end), M = monitor(process, P),
    {ok, _} = timer:kill_after(1, P),
    t:w(kill, receive {'DOWN', M, _, _, R} -> R end).
