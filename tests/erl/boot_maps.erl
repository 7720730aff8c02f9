%% Maps, small and just past the size where their form changes.
-module(boot_maps).
-export([main/1]).

main(_) ->
    M = #{a => 1, b => 2},
    N = fill(40, #{}),
    [erlang:display(X) || X <- [M, M#{a := 3}, M#{c => 4}, map_size(M), map_size(N), map_get(40, N), maps:get(7, N), is_map_key(41, N),
        maps:remove(a, M), maps:is_key(b, M), M =:= #{b => 2, a => 1}, maps:find(zz, N)]],
    ok.
fill(0, M) -> M;
fill(N, M) -> fill(N - 1, M#{N => N * N}).
