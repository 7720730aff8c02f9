%% Sharing of terms: kept inside a process, and sizes with and without it.
-module(erts_debug_same).
-export([main/1]).

main(_) -> L = t:id(lists:seq(1, 100)), S = {L, L, L}, t:w(sizes, [erts_debug:size(L), erts_debug:flat_size(L), erts_debug:size(S), erts_debug:flat_size(S), erts_debug:flat_size(1), erts_debug:flat_size({}), erts_debug:flat_size(#{}), erts_debug:flat_size(1.5), erts_debug:flat_size(1 bsl 64)]), t:w(same, [erts_debug:same(L, L), erts_debug:same(L, L ++ []), erts_debug:same(element(1, S), element(2, S)), erts_debug:same(1, 1)]), garbage_collect(), t:w(after_gc, {erts_debug:size(S), erts_debug:same(element(1, S), L)}).
