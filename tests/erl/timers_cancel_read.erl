%% cancel_timer and read_timer on running, fired, cancelled and foreign timers.
-module(timers_cancel_read).
-export([main/1]).

main(_) ->
    R = erlang:send_after(100000, self(), never),
    L = erlang:read_timer(R),
    t:w(read, L > 90000 andalso L =< 100000),
    C = erlang:cancel_timer(R),
    t:w(cancel, C > 90000 andalso C =< 100000),
    t:w(again, {erlang:cancel_timer(R), erlang:read_timer(R)}),
    F = erlang:send_after(1, self(), fired), receive fired -> ok end,
    t:w(fired, {erlang:cancel_timer(F), erlang:read_timer(F)}),
    t:w(other_ref, {erlang:cancel_timer(make_ref()), erlang:read_timer(make_ref())}),
    A = erlang:start_timer(50000, self(), x),
    t:w(async, {erlang:cancel_timer(A, [{async, true}]), receive {cancel_timer, A, V} -> V > 40000 end}),
    B = erlang:start_timer(50000, self(), x),
    t:w(async_read, {erlang:read_timer(B, [{async, true}]), receive {read_timer, B, V2} -> V2 > 40000 end}),
    t:w(no_info, {erlang:cancel_timer(B, [{async, true}, {info, false}]), receive Q -> Q after 10 -> none end}),
    t:w(info_false, erlang:cancel_timer(erlang:send_after(5000, self(), x), [{info, false}])),
    Me = self(), S = spawn(fun() -> Me ! {ref, erlang:send_after(60000, Me, from_other)}, receive stop -> ok end end),
    t:w(others, receive {ref, O} -> X = erlang:cancel_timer(O), X > 50000 end), S ! stop,
    t:e(bad_opt, fun() -> erlang:cancel_timer(make_ref(), [foo]) end),
    t:e(bad_ref, fun() -> erlang:cancel_timer(t:id(x), []) end),
    Rs = [erlang:send_after(10000 + N, self(), N) || N <- lists:seq(1, 2000)],
    t:w(many, length([X || X <- Rs, is_integer(erlang:cancel_timer(X))])),
    t:w(left, t:flush()).
