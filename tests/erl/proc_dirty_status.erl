%% A process on a dirty scheduler runs on when it is suspended, and is suspended then.
-module(proc_dirty_status).
-export([main/1]).

main(_) ->
    Main = self(),
    Pid = spawn(fun() -> erts_debug:dirty_io(wait, 2000), Main ! done end),
    t:wait_until(fun() -> element(1, status(Pid)) =:= running end),
    erlang:suspend_process(Pid, [asynchronous]),
    t:w(suspended_as_it_runs, status(Pid)),
    t:wait_until(fun() -> element(1, status(Pid)) =:= suspended end),
    t:w(after_it_ran, element(1, status(Pid))),
    t:w(done, receive done -> yes after 100 -> no end),
    erlang:resume_process(Pid),
    t:w(done, receive done -> yes after 5000 -> no end).

status(Pid) ->
    [{status, Status}, {current_function, Where}] = process_info(Pid, [status, current_function]),
    {Status, Where}.
