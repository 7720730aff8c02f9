%% Timers set and cancelled.
-module(msg_timers).
-export([main/1, group/0]).

group() -> message.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    lists:sum([begin R = erlang:start_timer(60000 + N, self(), x), erlang:cancel_timer(R) div 100000000 end || N <- lists:seq(1, 300000)]).
