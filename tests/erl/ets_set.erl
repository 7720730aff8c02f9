%% Tables of type set: insert, look up, delete, take, member, replace, size.
-module(ets_set).
-export([main/1]).

main(_) ->
    T = ets:new(t, []),
    t:w(insert, [ets:insert(T, X) || X <- [{a, 1}, {b, 2}, {a, 3}, [{c, 1}, {d, 2}, {c, 9}], []]]),
    t:w(all, lists:sort(ets:tab2list(T))),
    t:w(lookup, [ets:lookup(T, K) || K <- [a, b, z]]),
    t:w(member, [ets:member(T, K) || K <- [a, z]]),
    t:w(insert_new, [ets:insert_new(T, X) || X <- [{a, 9}, {n, 1}, [{o, 1}, {a, 2}], [{p, 1}, {q, 2}]]]),
    t:w(element, [ets:lookup_element(T, a, 2), ets:lookup_element(T, zz, 2, default)]),
    t:e(element_none, fun() -> ets:lookup_element(T, zz, 2) end),
    t:e(element_pos, fun() -> ets:lookup_element(T, a, 9) end),
    t:w(update_element, [ets:update_element(T, a, {2, new}), ets:update_element(T, zz, {2, new}), ets:update_element(T, zz, {2, new}, {zz, d})]),
    t:w(take, [ets:take(T, a), ets:take(T, a)]),
    t:w(numbers, [ets:insert(T, {1, int}), ets:insert(T, {1.0, float}), ets:lookup(T, 1), ets:lookup(T, 1.0)]),
    t:w(delete, [ets:delete(T, b), ets:delete(T, nope), ets:delete_object(T, {c, 8}), ets:delete_object(T, {c, 9}), ets:info(T, size)]),
    t:w(wide, [ets:insert(T, {w, 1, 2, 3, "four", <<5>>}), ets:lookup(T, w)]),
    t:w(keypos, begin K = ets:new(k, [{keypos, 2}]), ets:insert(K, {x, key, y}), {ets:lookup(K, key), ets:info(K, keypos)} end),
    t:w(clear, [ets:delete_all_objects(T), ets:info(T, size)]),
    t:w(gone, [ets:delete(T), ets:info(T), ets:info(T, size)]),
    t:e(after_delete, fun() -> ets:lookup(T, a) end).
