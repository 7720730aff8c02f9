%% A million timers, each cancelled by another process than the one that set it.
-module(msg_timers_others).
-export([main/1, group/0]).

group() -> message.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    Me = self(),
    Other = spawn_link(fun() -> cancel(0) end),
    [Other ! [erlang:send_after(60000, Me, x) || _ <- lists:seq(1, 1000)] || _ <- lists:seq(1, 1000)],
    Other ! {stop, Me},
    receive {cancelled, N} -> N end.

cancel(N) ->
    receive
        {stop, To} -> To ! {cancelled, N};
        Timers -> cancel(N + length([R || R <- Timers, is_integer(erlang:cancel_timer(R))]))
    end.
