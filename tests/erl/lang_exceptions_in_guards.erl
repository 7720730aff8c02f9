%% Expressions that fail in guards only make the guard false.
-module(lang_exceptions_in_guards).
-export([main/1]).

main(_) -> t:w(g, [g(X) || X <- [1, a, [], {}, {1}, [1], "ab", #{}, <<1>>, 0, 1.5, 1 bsl 70]]), t:w(h, [h(X) || X <- [0, 1, a, [], #{k => 1}, #{}]]).
g(X) when hd(X) == 1 -> hd1; g(X) when element(1, X) == 1 -> el1; g(X) when 10 div X > 5 -> divs; g(X) when length(X) > 1 -> long; g(X) when map_get(k, X) -> mg; g(X) when bit_size(X) == 8 -> bits; g(X) when X bsr 64 > 0 -> big; g(X) when abs(X) + 1 > 1 -> num; g(_) -> none.
h(X) when 1 / X > 0; map_get(k, X) =:= 1; is_atom(X), X =:= a -> yes; h(X) when tuple_size(X) =:= 1 orelse is_list(X) -> maybe_; h(_) -> no.
