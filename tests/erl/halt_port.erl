%% What ports were sent goes out before the machine halts, though it is read late.
-module(halt_port).
-export([main/1]).

main(_) ->
    Port = open_port({spawn, "sh -c 'sleep 0.3; wc -c'"}, [binary, out]),
    [Port ! {self(), {command, binary:copy(<<"x">>, 100)}} || _ <- lists:seq(1, 50)],
    true = port_command(Port, binary:copy(<<"x">>, 150_000)),
    halt(0).
