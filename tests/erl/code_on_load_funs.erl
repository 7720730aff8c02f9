%% Funs of a module while its on_load function runs: other processes call them. If on_load fails, processes in the module end.
-module(code_on_load_funs).
-export([main/1]).

main(_) ->
    register(tester, self()),
    t:w(called_by_another, {load(good, "ok"), good:is_there()}),
    receive {loop, _} -> ok end,
    t:w(loop_of_failed, load(bad, "no")),
    Loop = receive {loop, Pid} -> Pid end,
    Monitor = monitor(process, Loop),
    t:w(ended, receive {'DOWN', Monitor, _, _, Reason} -> reason(Reason) after 5000 -> alive end),
    t:w(not_loaded, {erlang:module_loaded(bad), erlang:check_old_code(bad)}),
    %% A version whose on_load fails leaves the loaded one as it is, and its old one too.
    t:w(first, load(again, "ok", "1")),
    t:w(second, load(again, "ok", "2")),
    t:w(third_fails, load(again, "no", "3")),
    t:w(still, {again:version(), erlang:check_old_code(again)}),
    code:purge(again),
    t:w(purged, {again:version(), erlang:check_old_code(again)}),
    %% Nor does it end the processes in old code of a deleted module.
    Old = spawn(fun again:wait/0),
    Old ! {self(), are_you_there},
    receive Old -> ok end,
    true = code:delete(again),
    t:w(fourth_fails, load(again, "no", "4")),
    t:w(old_stays, {is_process_alive(Old), erlang:check_old_code(again), code:purge(again), is_process_alive(Old)}),
    %% Deleting what was deleted: an error as long as there is old code, no difference after that.
    t:w(deleted_again, {erlang:delete_module(again), erlang:delete_module(again), erlang:delete_module(never_loaded)}),
    {module, again} = load(again, "ok"),
    true = erlang:delete_module(again),
    t:e(old_code, fun() -> erlang:delete_module(again) end),
    t:w(code_server, code:delete(again)).

%% The loop may have been ended before the monitor was there.
reason(noproc) -> killed;
reason(Reason) -> Reason.

load(Module, Result) -> load(Module, Result, "0").

load(Module, Result, Version) ->
    {ok, Module, Code} = compile:forms(t:forms(
        "-module(" ++ atom_to_list(Module) ++ ").\n"
        "-export([is_there/0, version/0, wait/0]).\n"
        "-on_load(init/0).\n"
        "init() ->\n"
        "    Self = self(),\n"
        "    Loop = spawn(fun() -> loop(Self) end),\n"
        "    receive {Loop, running} -> ok end,\n"
        "    tester ! {loop, Loop},\n"
        "    " ++ Result ++ ".\n"
        "loop(Parent) -> Parent ! {self(), running}, receive stop -> loop(Parent) end.\n"
        "version() -> " ++ Version ++ ".\n"
        "wait() -> receive {From, are_you_there} -> From ! self(), wait() end.\n"
        "is_there() -> true.\n")),
    code:load_binary(Module, "in memory", Code).
