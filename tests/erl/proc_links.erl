%% Links: normal and abnormal ends, chains, unlink, links to the dead, self.
-module(proc_links).
-export([main/1]).

main(_) ->
    process_flag(trap_exit, true),
    [t:w(R, begin P = spawn_link(fun() -> exit(R) end), receive {'EXIT', P, W} -> W end end) || R <- [normal, bye, {a, tuple}, kill, shutdown]],
    t:w(error, (fun() -> P = spawn_link(fun() -> error(oops) end), receive {'EXIT', P, {W, [{M, _, _, _} | _]}} -> {W, M} end end)()),
    t:w(throw, (fun() -> P = spawn_link(fun() -> throw(ball) end), receive {'EXIT', P, {W, _}} -> W end end)()),
    t:w(returns, (fun() -> P = spawn_link(fun() -> value end), receive {'EXIT', P, W} -> W end end)()),
    Dead = spawn(fun() -> ok end), M0 = monitor(process, Dead), receive {'DOWN', M0, _, _, _} -> ok end,
    t:w(link_dead, (fun() -> link(Dead), receive {'EXIT', Dead, W} -> W end end)()),
    t:w(unlink_dead, unlink(Dead)),
    t:w(self_link, {link(self()), unlink(self())}),
    Chain = chain(100, self()),
    Chain ! {die, end_of_chain},
    t:w(chain, [receive {'EXIT', _, W1} -> W1 end || _ <- [first, last]]),
    U = spawn_link(fun() -> receive go -> exit(hidden) end end), MU = monitor(process, U),
    unlink(U), U ! go,
    t:w(unlinked, (fun() -> receive {'DOWN', MU, _, _, W2} -> W2 end, t:flush() end)()),
    L = spawn_link(fun() -> receive stop -> ok end end), link(L), link(L),
    t:w(once, {links, [L]} =:= {links, [X || X <- element(2, process_info(self(), links)), X =:= L]}),
    L ! stop,
    t:w(one_signal, (fun() -> receive {'EXIT', L, W3} -> W3 end, t:flush() end)()),
    {_, MQ} = spawn_monitor(fun() -> process_flag(trap_exit, true), S = spawn_link(fun() -> receive after infinity -> ok end end), exit(S, kill), receive {'EXIT', S, R} -> exit({saw, R}) end end),
    t:w(killed, receive {'DOWN', MQ, _, _, W4} -> W4 end),
    t:w(tree, (fun() -> Root = spawn(fun() -> [spawn_link(fun() -> receive x -> x end end) || _ <- lists:seq(1, 50)], receive die -> exit(now) end end),
        receive after 5 -> ok end, {links, Ls} = process_info(Root, links), Ms = [monitor(process, C) || C <- Ls], Root ! die,
        lists:usort([receive {'DOWN', Mx, _, _, Wx} -> Wx end || Mx <- Ms]) end)()).
chain(0, Next) -> link(Next), spawn_link(fun() -> receive {die, R} -> exit(R) end end);
chain(N, Next) -> P = self(), spawn_link(fun() -> C = chain(N - 1, Next), P ! {head, C}, receive after infinity -> ok end end), receive {head, C} -> C end.
