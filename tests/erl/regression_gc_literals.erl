%% Structures that mix literals, heap terms and binaries, mutated often with collections between.
-module(regression_gc_literals).
-export([main/1]).

main(_) -> S = lists:foldl(fun(N, A) -> N rem 100 =:= 0 andalso garbage_collect(), upd(N, A) end, {0, #{}, [], <<>>, "literal"}, lists:seq(1, 2000)), t:w(state, begin {C, M, L, B, X} = S, {C, map_size(M), length(L), byte_size(B), X, erlang:phash2(M), erlang:phash2(L), erlang:md5(B)} end), {P, M2} = spawn_monitor(fun() -> exit(erlang:phash2(S)) end), receive {'DOWN', M2, _, P, R} -> t:w(copied, R =:= erlang:phash2(S)) end.
upd(N, {C, M, L, B, X}) -> {C + N, M#{N rem 50 => {N, [lit, "str" | lists:sublist(L, 3)], <<N:40>>}}, [{N, #{k => N, lit => {a, [b]}}} | lists:sublist(L, 40)], <<(binary:part(B, 0, min(200, byte_size(B))))/binary, N:16>>, X}.
