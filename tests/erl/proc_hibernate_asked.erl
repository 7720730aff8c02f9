%% A process asked about itself while it lies down to hibernate stays down: only a message wakes it.
-module(proc_hibernate_asked).
-export([main/1, woken/0]).
main(_) ->
    t:w(asleep, lists:usort([asked() || _ <- lists:seq(1, 2000)])).
asked() ->
    P = spawn(fun() -> erlang:hibernate(?MODULE, woken, []) end),
    [process_info(P, memory) || _ <- lists:seq(1, 4)],
    Asleep = t:wait_until(fun() -> {status, waiting} =:= process_info(P, status) end),
    F = process_info(P, current_function),
    exit(P, kill),
    {Asleep, F}.
woken() -> receive nothing -> ok end.
