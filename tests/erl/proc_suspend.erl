%% suspend_process and resume_process: counting, options, errors.
-module(proc_suspend).
-export([main/1]).

main(_) ->
    Me = self(),
    P = spawn(fun() -> echo() end),
    t:w(suspend, erlang:suspend_process(P)),
    P ! {Me, 1},
    t:w(silent, receive X1 -> X1 after 30 -> none end),
    t:w(status, process_info(P, status)),
    t:w(again, erlang:suspend_process(P)),
    t:w(suspending, [{C, T} || {_, C, T} <- element(2, process_info(self(), suspending))]),
    t:w(unless, erlang:suspend_process(P, [unless_suspending])),
    t:w(resume, erlang:resume_process(P)),
    t:w(still_silent, receive X2 -> X2 after 30 -> none end),
    t:w(resume2, erlang:resume_process(P)),
    t:w(answer, receive X3 -> X3 end),
    t:e(not_suspended, fun() -> erlang:resume_process(P) end),
    t:e(self, fun() -> erlang:suspend_process(self()) end),
    t:e(bad, fun() -> erlang:suspend_process(t:id(x)) end),
    t:e(bad_opt, fun() -> erlang:suspend_process(P, [foo]) end),
    %% One that has not handled it yet is not counted as suspended.
    B = spawn(fun() -> Me ! {self(), started}, receive stop -> ok end end),
    receive {B, started} -> ok end,
    erlang:suspend_process(B, [asynchronous]),
    t:w(in_the_end, outstanding(B, 1000)),
    erlang:suspend_process(B, [asynchronous]),
    t:w(active, counts(B)),
    erlang:resume_process(B), erlang:resume_process(B),
    t:w(none, counts(B)),
    S = spawn(fun() -> erlang:suspend_process(P), Me ! did end), M = monitor(process, S),
    receive did -> ok end, receive {'DOWN', M, _, _, _} -> ok end,
    P ! {Me, 2},
    t:w(resumed_by_death, receive Y -> Y end),
    erlang:suspend_process(P), exit(P, kill), MP = monitor(process, P),
    t:w(killed, receive {'DOWN', MP, _, _, R} -> R =:= killed orelse R =:= noproc end),
    t:e(dead, fun() -> erlang:suspend_process(P) end).
outstanding(P, Tries) ->
    case counts(P) of
        {0, 1} when Tries > 0 -> timer:sleep(5), outstanding(P, Tries - 1);
        Counts -> Counts
    end.

counts(P) ->
    {suspending, All} = process_info(self(), suspending),
    case lists:keyfind(P, 1, All) of {_, Active, Outstanding} -> {Active, Outstanding}; false -> none end.

echo() -> receive {P, X} -> P ! X, echo() end.
