%% The last messages of a port: an unfinished line comes after the exit status, and `closed` after the exit signal.
-module(port_line_end).
-export([main/1]).

main(_) ->
    process_flag(trap_exit, true),
    [ends(Length, Options, Command) || Length <- [3, 1024], Options <- [[], [eof], [exit_status], [exit_status, eof]],
     Command <- ["printf 'hello\nworld'", "printf 'hello\n'", "printf 'hello\nworld'; exit 3"]],
    [closed(Options, How) || Options <- [[], [exit_status]], How <- [port_close, message, exit]].

ends(Length, Options, Command) ->
    Port = open(Command, [{line, Length} | Options]),
    Last = case {lists:member(eof, Options), lists:member(exit_status, Options)} of
               {true, _} -> eof;
               _ -> 'EXIT'
           end,
    t:w({Length, Options, Command}, until(Port, Last)).

closed(Options, How) ->
    Port = open("printf 'hello\nworld'; read x", [{line, 3} | Options]),
    First = [receive {Port, M} -> M end || _ <- [1, 2, 3]],
    case How of
        port_close -> port_close(Port);
        message -> Port ! {self(), close};
        exit -> exit(Port, stop)
    end,
    t:w({Options, How}, First ++ until(Port, case How of message -> closed; _ -> 'EXIT' end)).

open(Command, Options) -> open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", Command]}, binary | Options]).

until(Port, Last) ->
    receive
        {Port, Last} -> [Last];
        {Port, X} -> [X | until(Port, Last)];
        {'EXIT', Port, Reason} when Last =:= 'EXIT' -> [{'EXIT', Reason}];
        {'EXIT', Port, Reason} -> [{'EXIT', Reason} | until(Port, Last)]
    after 5000 -> [nothing]
    end.
