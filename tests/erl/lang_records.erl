%% Records: build, match, update, default values, wrong records.
-module(lang_records).
-export([main/1]).
-record(p, {x = 0, y = 0 :: integer(), name}).
-record(q, {p = #p{}, list = []}).
main(_) ->
    P = #p{x = t:id(1)},
    t:w(p, P),
    t:w(update, P#p{y = 5, name = "n"}),
    t:w(field, {P#p.x, P#p.name, #p.y}),
    t:w(nested, (#q{})#q{p = P, list = [P]}),
    Q = #q{p = P},
    t:w(nested_update, Q#q{p = (Q#q.p)#p{y = 9}}),
    t:w(all, #p{_ = z}),
    t:w(match, case P of #p{x = X, _ = _} when X > 0 -> {pos, X}; #p{} -> other end),
    t:w(info, {record_info(fields, p), record_info(size, q)}),
    t:w(is, [is_record(R, p) || R <- [P, {p, 1}, {p, 1, 2, 3}, {q, 1, 2, 3}, p, []]]),
    t:e(badrecord_get, fun() -> (t:id({q, 1}))#p.x end),
    t:e(badrecord_set, fun() -> (t:id(foo))#p{x = 1} end),
    t:e(badrecord_size, fun() -> (t:id({p, 1}))#p.x end),
    t:w(guard, [g(R) || R <- [P, P#p{x = 20}, {p}, Q]]),
    t:w(sort, lists:sort([#p{x = 3}, #p{x = 1, name = b}, #p{x = 1, name = a}])),
    t:w(keysort, lists:keysort(#p.y, [#p{x = 1, y = 2}, #p{x = 2, y = 1}])).
g(R) when R#p.x > 10 -> big;
g(R) when is_record(R, p) -> p;
g(#q{p = #p{x = X}}) -> {q, X};
g(_) -> none.
