%% apply in tail and non-tail position, with natives, funs, dynamic modules, long argument lists.
-module(apply_forms).
-export([main/1]).

main(_) ->
    M = t:id(lists), F = t:id(reverse), t:w(dyn, [M:F([1, 2]), apply(M, F, [[1, 2]]), (fun M:F/1)([3, 4]), apply(fun lists:F/1, [[5, 6]]), erlang:apply(t:id(fun(X) -> {X} end), [1])]), t:w(tail, loop(100000)), t:w(native_tail, [nt(X) || X <- [abs, float, integer_to_list]]), t:w(in_catch, [catch apply(erlang, hd, [[]]) || _ <- [1]] =/= []), t:w(self, apply(erlang, self, []) =:= self()), t:w(apply_apply, apply(erlang, apply, [erlang, apply, [lists, sum, [[1, 2, 3]]]])), t:w(spawn_bif, begin spawn(erlang, apply, [erlang, send, [self(), via]]), receive via -> ok end end), t:w(wide, wide(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)), t:w(wide_fun, (t:id(fun(A, B, C, D, E, F1, G, H) -> [H, G, F1, E, D, C, B, A] end))(1, 2, 3, 4, 5, 6, 7, 8)).
loop(0) -> done; loop(N) -> apply(t:id(fun(X) -> loop(X) end), [N - 1]).
nt(F) -> erlang:F(-5).
wide(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T) -> {T, S, R, Q, P, O, N, M, L, K, J, I, H, G, F, E, D, C, B, A}.
