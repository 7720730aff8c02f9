%% Exit signals to ports: from exit/2 each reason ends one, and its links hear of it, the sender's own too; the end of a linked
%% process ends one unless it is the normal end of another than the owner.
-module(port_exit_signals).
-export([main/1]).

main(_) ->
    process_flag(trap_exit, true),
    [signal(Linked, Who, Reason) || Linked <- [true, false], Who <- [self, other, linked, ends], Reason <- [normal, kill, stop]].

signal(Linked, Who, Reason) ->
    Port = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", "read x"]}]),
    Linked orelse unlink(Port),
    Monitor = monitor(port, Port),
    case Who of
        self -> exit(Port, Reason);
        other -> spawn(fun() -> exit(Port, Reason) end);
        linked -> spawn(fun() -> link(Port), exit(Port, Reason) end);
        ends -> spawn(fun() -> link(Port), exit(Reason) end)
    end,
    Wait = if Who =:= ends, Reason =:= normal -> 300; true -> 5000 end,
    Down = receive {'DOWN', Monitor, port, Port, Why} -> Why after Wait -> lives end,
    Exit = receive {'EXIT', Port, Because} -> Because after 0 -> none end,
    t:w({Linked, Who, Reason}, {Down, Exit}),
    catch port_close(Port),
    t:flush().
