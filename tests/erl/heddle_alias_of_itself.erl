%% The reference of a process' monitor of itself is an alias as any other, as the documents of monitor/3 say. (In stock it delivers nothing.)
-module(heddle_alias_of_itself).
-export([main/1]).

main(_) ->
    R = monitor(process, self(), [{alias, explicit_unalias}]),
    io:format("~p ~p~n", [delivers(R), delivers(R)]),
    true = demonitor(R),
    io:format("~p ~p ~p~n", [delivers(R), unalias(R), delivers(R)]),
    %% The two other kinds end with the monitor.
    [begin
         M = monitor(process, self(), [{alias, Kind}]),
         First = delivers(M),
         false = demonitor(M, [info]),
         io:format("~p: ~p ~p ~p~n", [Kind, First, delivers(M), unalias(M)])
     end || Kind <- [demonitor, reply_demonitor]].

delivers(R) ->
    R ! {R, hello},
    receive {R, hello} -> true after 0 -> false end.
