%% The time for a flush is over while a program does not read what it was sent: functions of NIF libraries do not delay the halt any more.
-module(halt_nif_timeout).
-export([main/1]).

main(_) ->
    Data = binary:copy(<<"x">>, 1_000_000), % before the functions begin: Heddle copies that much on a dirty CPU thread, and there may be one
    halt_nif:start([fun halt_nif:on_dirty_cpu/1, fun halt_nif:on_dirty_io/1]),
    Port = open_port({spawn, "sleep 5"}, [binary, out]),
    Port ! {self(), {command, Data}},
    halt(5, [{flush_timeout, 350}]).
