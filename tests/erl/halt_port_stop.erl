%% What ports were sent goes out when the machine stops in good order, though their owners are killed and it is read late; and
%% commands that wait for a busy port are not done any more.
-module(halt_port_stop).
-export([main/1]).

main(_) ->
    Me = self(),
    spawn(fun() ->
                  Port = open_port({spawn, "sh -c 'sleep 2; wc -c'"}, [binary, out]),
                  true = port_command(Port, binary:copy(<<"x">>, 1_000_000)),
                  Me ! sent,
                  port_command(Port, binary:copy(<<"x">>, 1_000_000))
          end),
    receive sent -> init:stop(0) end.
