%% What becomes of a table when its owner ends: gone, or inherited, or given away.
-module(ets_owner).
-export([main/1]).

main(_) ->
    Me = self(),
    {P, M} = spawn_monitor(fun() -> T = ets:new(own, [named_table, public]), ets:insert(T, {a, 1}), Me ! here, receive stop -> ok end end),
    receive here -> t:w(alive, ets:lookup(own, a)) end,
    P ! stop, receive {'DOWN', M, _, _, _} -> ok end,
    t:w(gone, t:wait_until(fun() -> ets:whereis(own) =:= undefined end)),
    {Q, MQ} = spawn_monitor(fun() -> ets:new(inh, [named_table, {heir, Me, heirloom}]), ets:insert(inh, {k, v}) end),
    receive {'ETS-TRANSFER', inh, Q, Data} -> t:w(heir, {Data, ets:lookup(inh, k), ets:info(inh, owner) =:= Me}) end,
    receive {'DOWN', MQ, _, _, _} -> ok end,
    G = spawn(fun() -> receive {'ETS-TRANSFER', T, F, D} -> ets:insert(T, {given, 1}), Me ! {got, D, F =:= Me}, receive stop -> ok end end end),
    t:w(give, ets:give_away(inh, G, gift)),
    receive {got, D, F} -> t:w(gift, {D, F}) end,
    t:e(not_mine, fun() -> ets:insert(inh, {z}) end),
    t:e(delete_not_mine, fun() -> ets:delete(inh) end),
    G ! stop, t:w(after_, t:wait_until(fun() -> lists:any(fun(X) -> X =:= inh end, ets:all()) =:= false orelse ets:info(inh, owner) =:= Me end)),
    t:w(setopts, begin S = ets:new(s, []), {ets:setopts(S, {heir, none}), ets:setopts(S, {protection, public}), ets:info(S, protection)} end).
