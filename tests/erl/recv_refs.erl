%% Requests marked with fresh references, with a long queue before them.
-module(recv_refs).
-export([main/1]).

main(_) ->
    S = spawn(fun() -> serve(0) end),
    [self() ! {junk, N} || N <- lists:seq(1, 20000)],
    t:w(calls, lists:sum([call(S, N) || N <- lists:seq(1, 500)])),
    t:w(monitored, lists:sum([mcall(S, N) || N <- lists:seq(1, 500)])),
    t:w(count, call(S, count)),
    t:w(queue, element(2, process_info(self(), message_queue_len))),
    t:w(order, begin L = t:flush(), {hd(L), lists:last(L), length(L)} end),
    S ! stop,
    %% It may end before or after the monitor arrives.
    t:w(dead, case mcall(S, 1) of {down, normal} -> down; {down, noproc} -> down end).
call(S, Q) -> R = make_ref(), S ! {R, self(), Q}, receive {R, A} -> A end.
mcall(S, Q) -> M = monitor(process, S), S ! {M, self(), Q}, receive {M, A} -> demonitor(M, [flush]), A; {'DOWN', M, _, _, W} -> {down, W} end.
serve(N) ->
    receive {R, P, count} -> P ! {R, N}, serve(N);
            {R, P, X} -> P ! {R, X * 2}, serve(N + 1);
            stop -> ok end.
