%% A million timers that are due within a second.
-module(msg_timers_fire).
-export([main/1, group/0]).

group() -> message.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    [erlang:send_after(N rem 1000, self(), N) || N <- lists:seq(1, 1000000)],
    lists:sum([receive N -> N end || _ <- lists:seq(1, 1000000)]).
