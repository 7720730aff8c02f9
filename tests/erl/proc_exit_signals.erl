%% exit/2 with each kind of reason to processes that trap and that do not.
-module(proc_exit_signals).
-export([main/1]).

main(_) ->
    Rs = [normal, kill, killed, bye, {shutdown, 1}],
    [t:w({Trap, R}, try_exit(Trap, R)) || Trap <- [false, true], R <- Rs],
    process_flag(trap_exit, true),
    exit(self(), hello), t:w(self_trapping, receive {'EXIT', P, R} -> {P =:= self(), R} end),
    exit(self(), normal), t:w(self_normal_trapping, receive {'EXIT', _, R1} -> R1 end),
    t:w(dead, exit(spawn(fun() -> ok end), x)),
    t:w(self_normal, end_of(fun() -> exit(self(), normal), receive after 100 -> survived end end)),
    t:w(self_kill, end_of(fun() -> exit(self(), kill), receive after 1000 -> ok end end)),
    t:w(self_other, end_of(fun() -> exit(self(), other), receive after 1000 -> ok end end)),
    t:w(exit_kill, end_of(fun() -> exit(kill) end)),
    t:w(in_catch, end_of(fun() -> (catch exit(inner)), exit(outer) end)),
    t:w(linked_kill, end_of(fun() -> spawn_link(fun() -> exit(kill) end), receive after 1000 -> ok end end)),
    t:w(flag_off, end_of(fun() -> process_flag(trap_exit, true), process_flag(trap_exit, false), exit(self(), gone), receive after 1000 -> ok end end)),
    t:w(busy, begin B = spawn(fun busy/0), M = monitor(process, B), exit(B, stop_it), receive {'DOWN', M, _, _, W} -> W end end),
    t:w(badarg, end_of(fun() -> erlang:error(badarg) end) =/= badarg),
    t:w(exit_in_try, end_of(fun() -> try exit(self(), sig), receive after 1000 -> ok end catch _:_ -> caught end end)),
    t:w(order, end_of(fun() -> S = self(), spawn(fun() -> exit(S, first), exit(S, second) end), receive after 1000 -> ok end end)).
try_exit(Trap, R) ->
    Me = self(),
    {P, M} = spawn_monitor(fun() -> process_flag(trap_exit, Trap), Me ! ready, receive {'EXIT', _, X} -> exit({trapped, X}); stop -> exit(untouched) end end),
    receive ready -> ok end, exit(P, R), P ! stop,
    receive {'DOWN', M, _, _, W} -> W end.
end_of(F) -> {_, M} = spawn_monitor(F), receive {'DOWN', M, _, _, W} -> W end.
busy() -> busy().
