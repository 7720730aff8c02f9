%% Groups of writers and listeners.
-module(msg_hackbench).
-export([main/1, group/0]).

group() -> message.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    Me = self(), Gs = [spawn_link(fun() -> group(Me) end) || _ <- lists:seq(1, 10)], lists:sum([receive {G, N} -> N end || G <- Gs]).

group(Main) ->
    Me = self(),
    Ls = [spawn_link(fun() -> listen(Me, 2000) end) || _ <- lists:seq(1, 20)],
    [spawn_link(fun() -> [L ! {m, X} || X <- lists:seq(1, 100), L <- Ls] end) || _ <- lists:seq(1, 20)],
    [receive {done, L} -> ok end || L <- Ls],
    Main ! {Me, 40000}.

listen(G, 0) -> G ! {done, self()};
listen(G, N) -> receive {m, _} -> listen(G, N - 1) end.
