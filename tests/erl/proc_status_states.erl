%% What a process' status says in each of its states, asked by another process, whatever it does next.
-module(proc_status_states).
-export([main/1, spin/0, spin/1, polls/0]).

main(_) ->
    t:w(spins_without_arguments, busy(spawn(?MODULE, spin, []))),
    t:w(spins_with_an_argument, busy(spawn(?MODULE, spin, [1]))),
    t:w(polls, busy(spawn(?MODULE, polls, []))),
    t:w(waits, settled(fun() -> receive nothing -> ok end end)),
    t:w(waits_with_timeout, settled(fun() -> receive nothing -> ok after 100000 -> ok end end)),
    t:w(hibernates, settled(fun() -> erlang:hibernate(?MODULE, spin, []) end)),
    Other = fun() -> self() ! other, receive nothing -> ok end end,
    t:w(waits_with_other_messages, {settled(Other), settled(Other)}),
    S = spawn(?MODULE, spin, []),
    true = erlang:suspend_process(S),
    t:w(suspended, [process_info(S, status) || _ <- [1, 2, 3]]),
    true = erlang:resume_process(S),
    t:w(resumed, busy(S)),
    W = spawn(fun() -> receive nothing -> ok end end),
    true = erlang:suspend_process(W),
    t:w(suspended_waiting, process_info(W, status)),
    true = erlang:resume_process(W),
    t:wait_until(fun() -> process_info(W, status) =:= {status, waiting} end),
    t:w(itself, process_info(self(), status)),
    exit(W, kill).

%% Asked often: never `waiting`.
busy(P) ->
    Seen = lists:usort([Status || _ <- lists:seq(1, 50), {status, Status} <- [process_info(P, status)]]),
    exit(P, kill),
    Seen =/= [] andalso Seen -- [running, runnable] =:= [].

%% It comes to wait, and says so from then on.
settled(Fun) ->
    P = spawn(Fun),
    t:wait_until(fun() -> process_info(P, status) =:= {status, waiting} end),
    Seen = lists:usort([process_info(P, status) || _ <- lists:seq(1, 20)]),
    exit(P, kill),
    Seen.

spin() -> spin().

spin(N) -> spin(-N).

polls() -> receive nothing -> ok after 0 -> polls() end.
