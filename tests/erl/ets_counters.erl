%% update_counter in all its forms and with its errors.
-module(ets_counters).
-export([main/1]).

main(_) ->
    T = ets:new(t, []),
    ets:insert(T, [{a, 1, 10}, {b, x}, {big, 1 bsl 59}]),
    t:w(simple, [ets:update_counter(T, a, 1), ets:update_counter(T, a, -5), ets:update_counter(T, a, {3, 7})]),
    t:w(list, [ets:update_counter(T, a, [{2, 1}, {3, 2}]), ets:update_counter(T, a, []), ets:update_counter(T, a, [{2, 0}, {2, 1}])]),
    t:w(limit, [ets:update_counter(T, a, {2, 5, 6, 0}) || _ <- [1, 2, 3, 4]]),
    t:w(limit_down, [ets:update_counter(T, a, {2, -5, 0, 100}) || _ <- [1, 2, 3]]),
    t:w(default, [ets:update_counter(T, new, 1, {new, 41}), ets:update_counter(T, new, {2, 1}, {x, 0}), ets:lookup(T, new)]),
    t:w(bignum, [ets:update_counter(T, big, 1 bsl 59), ets:update_counter(T, big, 1 bsl 70), ets:update_counter(T, big, -(1 bsl 70))]),
    t:all(fun(K, O) -> ets:update_counter(T, K, O) end, [[zz, 1], [b, 1], [a, {9, 1}], [a, {1, 1}], [a, x], [a, 1.5], [a, {2, 1, 2}], [a, [{2, 1}, x]]]),
    t:w(update_element, [ets:update_element(T, a, [{2, p}, {3, q}]), ets:lookup(T, a)]),
    t:all(fun(K, O) -> ets:update_element(T, K, O) end, [[a, {1, x}], [a, {7, x}], [a, foo], [a, [{2, 1}, {1, 2}]], [a, []]]),
    P = self(), ets:insert(T, {c, 0}), U = ets:new(u, [public, {write_concurrency, true}]), ets:insert(U, {c, 0}),
    [spawn(fun() -> [ets:update_counter(U, c, 1) || _ <- lists:seq(1, 1000)], P ! done end) || _ <- lists:seq(1, 20)],
    [receive done -> ok end || _ <- lists:seq(1, 20)],
    t:w(concurrent, ets:lookup(U, c)).
