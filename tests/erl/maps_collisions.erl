%% Many keys whose hashes may collide: nested tuples, close integers, floats, atoms made on the fly.
-module(maps_collisions).
-export([main/1]).

main(_) -> Ks = [{X, Y, Z} || X <- lists:seq(1, 12), Y <- lists:seq(1, 12), Z <- lists:seq(1, 12)], M = maps:from_list([{K, erlang:phash2(K)} || K <- Ks]), t:w(all, {map_size(M), lists:all(fun(K) -> maps:get(K, M) =:= erlang:phash2(K) end, Ks)}), As = [list_to_atom("mc_" ++ integer_to_list(N)) || N <- lists:seq(1, 500)], A = maps:from_keys(As, 1), t:w(atoms, {map_size(A), lists:sum([maps:get(K, A) || K <- As])}), F = maps:from_keys([N * 0.1 || N <- lists:seq(1, 1000)], 1), t:w(floats, map_size(F)), B = maps:from_keys([<<N:24>> || N <- lists:seq(1, 1000)] ++ [<<N:23>> || N <- lists:seq(1, 1000)], 1), t:w(bits, map_size(B)), t:w(removed, map_size(lists:foldl(fun maps:remove/2, M, lists:sublist(Ks, 1700)))), t:w(lists_, map_size(maps:from_keys([lists:seq(1, N) || N <- lists:seq(0, 300)], x))).
