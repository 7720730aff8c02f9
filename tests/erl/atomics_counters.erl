%% Arrays of atomic integers: wraparound, signedness, exchange, concurrent addition.
-module(atomics_counters).
-export([main/1]).

main(_) ->
    A = atomics:new(3, []), U = atomics:new(2, [{signed, false}]),
    t:w(start, [atomics:get(A, I) || I <- [1, 2, 3]]),
    t:w(ops, [atomics:put(A, 1, 5), atomics:add(A, 1, 3), atomics:get(A, 1), atomics:add_get(A, 1, -10), atomics:sub(A, 1, 1), atomics:sub_get(A, 1, 7), atomics:exchange(A, 1, 99), atomics:get(A, 1)]),
    t:w(cas, [atomics:compare_exchange(A, 1, 99, 1), atomics:compare_exchange(A, 1, 99, 2), atomics:get(A, 1)]),
    t:w(wrap, begin atomics:put(A, 2, (1 bsl 63) - 1), atomics:add_get(A, 2, 1) end),
    t:w(unsigned, begin atomics:sub(U, 1, 1), {atomics:get(U, 1), atomics:add_get(U, 1, 2)} end),
    t:w(info, [maps:without([memory], atomics:info(X)) || X <- [A, U]]),
    t:all(fun(I, V) -> atomics:put(A, I, V) end, [[0, 1], [4, 1], [1, 1 bsl 63], [1, -(1 bsl 63)], [1, a], [x, 1], [1, 1.0]]),
    t:all({atomics, new}, [[0, []], [-1, []], [a, []], [1, x], [1, [foo]]]),
    t:e(bad_ref, fun() -> atomics:get(make_ref(), 1) end), t:e(bad_ref2, fun() -> atomics:get(x, 1) end), t:e(unsigned_neg, fun() -> atomics:put(U, 1, -1) end),
    C = counters:new(2, [write_concurrency]), D = counters:new(2, [atomics]),
    P = self(),
    [spawn(fun() -> [begin counters:add(C, 1, 2), counters:sub(D, 2, 1), atomics:add(A, 3, 1) end || _ <- lists:seq(1, 2000)], P ! done end) || _ <- lists:seq(1, 10)],
    [receive done -> ok end || _ <- lists:seq(1, 10)],
    t:w(concurrent, {counters:get(C, 1), counters:get(D, 2), atomics:get(A, 3)}),
    t:w(put, [counters:put(C, 2, 7), counters:get(C, 2), counters:put(D, 1, -7), counters:get(D, 1), maps:get(size, counters:info(C))]),
    t:all(fun(I) -> counters:get(D, I) end, [[0], [3], [a]]), t:all({counters, new}, [[0, []], [1, [foo]]]).
