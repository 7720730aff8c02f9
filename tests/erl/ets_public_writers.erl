%% Many writers and readers of one table.
-module(ets_public_writers).
-export([main/1]).

main(_) -> Me = self(), [begin T = ets:new(t, [Ty, public, {write_concurrency, WC}, {read_concurrency, true}]), [spawn(fun() -> [ets:insert(T, {{W, N}, N}) || N <- lists:seq(1, 500)], [ets:delete(T, {W, N}) || N <- lists:seq(1, 500, 2)], Me ! done end) || W <- lists:seq(1, 10)], [spawn(fun() -> [ets:foldl(fun({_, N}, A) -> A + N end, 0, T) || _ <- [1, 2, 3]], Me ! done end) || _ <- [1, 2]], [receive done -> ok end || _ <- lists:seq(1, 12)], t:w({Ty, WC}, {ets:info(T, size), ets:foldl(fun({_, N}, A) -> A + N end, 0, T), ets:select_count(T, [{{{3, '_'}, '_'}, [], [true]}])}), ets:delete(T) end || Ty <- [set, ordered_set, bag], WC <- [false, true, auto]].
