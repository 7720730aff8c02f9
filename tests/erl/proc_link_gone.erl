%% link/1 to a process or port that is gone: an error where it is called, or a message for a process that traps exits.
-module(proc_link_gone).
-export([main/1]).

main(_) ->
    Port = open_port({spawn, "cat"}, []),
    port_close(Port),
    in_process(fun() -> all(Port, false) end),
    in_process(fun() -> process_flag(trap_exit, true), all(Port, true) end),
    %% Not caught, it ends the caller as errors do.
    Gone = gone(),
    {P, M} = spawn_opt(fun() -> receive go -> link(Gone) end end, [monitor]),
    erlang:trace(P, false, [all]),
    logger:set_primary_config(level, none),
    P ! go,
    receive {'DOWN', M, process, P, {Reason, [{Module, Function, _, _} | _]}} -> t:w(not_caught, {Reason, Module, Function}) end,
    logger:set_primary_config(level, notice).

all(Port, Traps) ->
    t:w(traps, Traps),
    [t:e(Name, fun() -> link(What) end) || {Name, What} <- [{process, gone()}, {port, Port}, {itself, self()}, {atom, t:id(a)}]],
    t:w(told, told()),
    t:w(links, process_info(self(), links)),
    %% An unlink does not take the message back.
    Other = gone(),
    t:e(then_unlinked, fun() -> link(Other) end),
    t:w(unlink, unlink(Other)),
    t:w(told, told()),
    %% It was linked, and unlinked, before it ended.
    P = spawn(fun() -> receive stop -> ok end end),
    link(P),
    unlink(P),
    M = monitor(process, P),
    P ! stop,
    receive {'DOWN', M, _, _, _} -> ok end,
    t:e(linked_before, fun() -> link(P) end),
    t:w(told, told()),
    t:w(links, process_info(self(), links)).

told() -> receive {'EXIT', _, Reason} -> [Reason | told()] after 0 -> [] end.

gone() ->
    {P, M} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', M, _, _, _} -> P end.

in_process(Fun) ->
    {P, M} = spawn_monitor(Fun),
    receive {'DOWN', M, process, P, normal} -> ok end.
