%% proc_lib: start with acknowledgement, failures, initial call, ancestors.
-module(proc_lib_basic).
-export([main/1]).
-export([ok/1, fail/1, slow/1, die/1]).
main(_) ->
    process_flag(trap_exit, true), t:w(start, [case proc_lib:start_link(?MODULE, F, [self()]) of {ok, P} when is_pid(P) -> started; X -> X end || F <- [ok, fail, die]]), t:w(timeout, proc_lib:start(?MODULE, slow, [self()], 20)), t:w(monitor, begin {{ok, P2}, M} = proc_lib:start_monitor(?MODULE, ok, [self()]), P2 ! stop, receive {'DOWN', M, _, _, R} -> R end end), Me = self(), Q = proc_lib:spawn(fun() -> Me ! ready, receive stop -> ok end end), receive ready -> ok end, t:w(initial, begin {A, B, _} = proc_lib:translate_initial_call(Q), {A, is_atom(B)} end), t:w(dict, begin {_, D} = process_info(Q, dictionary), {proplists:get_value('$ancestors', D) =:= [self()], element(1, proplists:get_value('$initial_call', D))} end), t:w(stop, begin Z = proc_lib:spawn_link(fun() -> loop() end), catch proc_lib:stop(Z, normal, 50) end =/= zz), t:w(ball, begin {B1, M1} = proc_lib:spawn_opt(fun() -> throw(ball) end, [monitor]), receive {'DOWN', M1, _, B1, R1} -> element(1, R1) end end), t:w(left, length(t:flush()) > 0).
loop() -> receive {system, F, {terminate, R}} -> gen:reply(F, ok), exit(R) end.
ok(P) -> proc_lib:init_ack(P, {ok, self()}), receive stop -> ok end.
fail(P) -> proc_lib:init_fail(P, {error, failed}, {exit, normal}).
slow(_) -> receive never -> ok end.
die(_) -> exit(died).
