%% Names: register, send by name, which process has which, and when a name goes away.
-module(proc_registered).
-export([main/1]).

main(_) ->
    P = spawn(fun() -> receive stop -> ok end end),
    t:w(register, register(alpha, P)),
    t:w(whereis, whereis(alpha) =:= P),
    t:e(twice, fun() -> register(alpha, self()) end),
    t:e(second_name, fun() -> register(beta, P) end),
    t:e(undefined, fun() -> register(undefined, self()) end),
    t:w(member, lists:member(alpha, registered())),
    t:w(info, process_info(P, registered_name)),
    t:w(no_name, process_info(self(), registered_name)),
    t:w(unregister, {unregister(alpha), whereis(alpha)}),
    t:e(unregister_again, fun() -> unregister(alpha) end),
    register(alpha, P), M = monitor(process, P), alpha ! stop, receive {'DOWN', M, _, _, _} -> ok end,
    t:w(gone, {whereis(alpha), lists:member(alpha, registered())}),
    t:e(dead, fun() -> register(alpha, P) end),
    t:e(send_gone, fun() -> alpha ! x end),
    t:w(send_node, {alpha, node()} ! x),
    t:w(send_opt, erlang:send({alpha, node()}, x, [noconnect])),
    register(me, self()), me ! direct, {me, node()} ! noded,
    t:w(got, t:flush()),
    [begin Pn = spawn(fun() -> receive {From, X} -> From ! {self(), X} end end), register(list_to_atom("name_" ++ integer_to_list(N)), Pn) end || N <- lists:seq(1, 200)],
    [list_to_existing_atom("name_" ++ integer_to_list(N)) ! {self(), N} || N <- lists:seq(1, 200)],
    t:w(many, lists:sum([receive {_, N} -> N end || _ <- lists:seq(1, 200)])),
    t:w(unregistered, t:wait_until(fun() -> [] =:= [N || N <- registered(), lists:prefix("name_", atom_to_list(N))] end)),
    t:w(take_over, begin unregister(me), register(me, spawn(fun() -> receive after infinity -> ok end end)), exit(whereis(me), kill), t:wait_until(fun() -> whereis(me) =:= undefined end) end).
