%% Many live variables across calls, in odd orders, with swaps.
-module(regression_register_moves).
-export([main/1]).

main(_) -> t:w(swap, swap(1, 2, 3, 4, 5)), t:w(rot, rot(10, a, b, c, d)), t:w(keep, keep(1, 2.5, three, "four", {5}, <<6>>, [7], #{8 => 9})), t:w(deep, deep(5, [])).
swap(A, B, C, D, E) -> {B1, A1} = sw(A, B), {D1, C1} = sw(C, D), X = t:id(E), {E1, Y} = sw(X, {A1, B1}), {A1, B1, C1, D1, E1, Y, A, E}.
sw(A, B) -> {B, A}.
rot(0, A, B, C, D) -> {A, B, C, D}; rot(N, A, B, C, D) -> rot(N - 1, D, A, B, C).
keep(A, B, C, D, E, F, G, H) -> X = t:id(A), garbage_collect(), Y = t:id({B, X}), erlang:yield(), Z = t:id([C, Y]), garbage_collect(), {A, B, C, D, E, F, G, H, X, Y, Z}.
deep(0, A) -> A; deep(N, A) -> B = [N | A], C = {B, N}, D = deep(N - 1, B), {C, D, A, N}.
