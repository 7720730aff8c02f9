%% maybe ... else, with matches that fail at each place.
-module(lang_maybe).
-feature(maybe_expr, enable).
-export([main/1]).
main(_) ->
    t:all(fun f/2, [[{ok, 1}, {ok, 2}], [{error, a}, {ok, 2}], [{ok, 1}, nope], [{ok, 1}, {ok, zero}], [{ok, 5}, {ok, 0}]]),
    t:w(no_else, [maybe {ok, A} ?= X, A + 1 end || X <- [{ok, 1}, other, error]]),
    t:e(else_clause, fun() -> maybe {ok, _} ?= t:id(strange), ok else error -> no end end),
    t:w(plain_match, try maybe 1 = t:id(2), ok end catch error:{badmatch, V} -> {badmatch, V} end).
f(X, Y) ->
    maybe
        {ok, A} ?= t:id(X),
        B = A * 10,
        {ok, C} ?= t:id(Y),
        true ?= is_integer(C),
        {done, B + C}
    else
        {error, R} -> {failed, R};
        false -> not_int;
        Other -> {other, Other}
    end.
