%% Maps, small and just past the size where their form changes.
-module(boot_maps).
-export([main/1]).

main(_) ->
    M = #{1 => 1, 2 => 2},
    N = fill(40, #{}),
    [erlang:display(X) || X <- [M, M#{1 := 3}, M#{3 => 4}, map_size(M), map_size(N), map_get(40, N), maps:get(7, N), is_map_key(41, N),
        maps:remove(1, M), maps:is_key(2, M), M =:= #{2 => 2, 1 => 1}, maps:find(zz, N)]],
    ok.
fill(0, M) -> M;
fill(N, M) -> fill(N - 1, M#{N => N * N}).
