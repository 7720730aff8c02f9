%% bag and duplicate_bag: order of objects under a key, exact duplicates.
-module(ets_bag).
-export([main/1]).

main(_) ->
    [begin
        T = ets:new(t, [Type]),
        [ets:insert(T, X) || X <- [{a, 1}, {a, 2}, {a, 1}, {b, 1}, {a, 1.0}, {a, 3}, {b, 1}]],
        t:w(Type, [ets:lookup(T, a), ets:lookup(T, b), ets:info(T, size), ets:lookup_element(T, a, 2), ets:member(T, c)]),
        t:w(delete_object, [ets:delete_object(T, {a, 1}), ets:lookup(T, a)]),
        t:w(insert_new, [ets:insert_new(T, {a, 9}), ets:insert_new(T, [{c, 1}, {c, 1}]), ets:lookup(T, c)]),
        t:w(match, [lists:sort(ets:match(T, {'$1', '$2'})), ets:match_object(T, {a, '_'})]),
        t:w(take, [ets:take(T, b), ets:lookup(T, b)]),
        t:e(update_counter, fun() -> ets:update_counter(T, a, 1) end),
        t:e(update_element, fun() -> ets:update_element(T, a, {2, x}) end),
        [ets:insert(T, {k, N rem 10}) || N <- lists:seq(1, 100)],
        t:w(many, [length(ets:lookup(T, k)), ets:select_count(T, [{{k, 3}, [], [true]}]), ets:select_delete(T, [{{k, 3}, [], [true]}]), length(ets:lookup(T, k))])
     end || Type <- [bag, duplicate_bag]].
