%% Short-circuit operators with side effects and in tail position.
-module(lang_andalso_chain).
-export([main/1]).

main(_) ->
    F = fun(X) -> put(seen, [X | get(seen)]), X end, put(seen, []),
    t:w(chain, [F(true) andalso F(false) andalso F(true), F(false) orelse F(x), F(false) andalso t:id(1) / 0]), t:w(seen, lists:reverse(erase(seen))),
    t:w(tail, all(lists:seq(1, 100000))), t:e(bad, fun() -> t:id(1) andalso true end), t:e(bad_or, fun() -> t:id([]) orelse true end), t:w(last_any, {true andalso t:id(5), false orelse t:id("x")}).
all([]) -> true;
all([H | T]) -> H > 0 andalso all(T).
