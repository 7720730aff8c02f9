%% A million timers under way at once, all cancelled then.
-module(msg_timers_live).
-export([main/1, group/0]).

group() -> message.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    Timers = [erlang:send_after(60000 + N rem 1000, self(), x) || N <- lists:seq(1, 1000000)],
    length([R || R <- Timers, is_integer(erlang:cancel_timer(R))]).
