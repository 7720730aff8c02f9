%% Timers with natives only.
-module(boot_timers).
-export([main/1]).

main(_) ->
    R = erlang:start_timer(5, self(), hello),
    receive {timeout, R, M} -> erlang:display(M) end,
    S = erlang:send_after(100000, self(), never),
    erlang:display(is_integer(erlang:cancel_timer(S))),
    erlang:display(erlang:cancel_timer(S)).
