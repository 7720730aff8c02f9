%% A group leader of our own, and what the io functions send to it.
-module(io_protocol).
-export([main/1]).

main(_) ->
    Me = self(), GL = spawn(fun() -> leader(Me) end), Old = group_leader(), {P, M} = spawn_monitor(fun() -> group_leader(GL, self()), io:format("a~w", [1]), io:put_chars(<<"b">>), io:nl(), io:write({x}), X = io:get_line("prompt"), Y = io:fread("p", "~d"), io:setopts([binary]), exit({X, Y, io:columns(), io:getopts()}) end), receive {'DOWN', M, _, P, R} -> t:w(results, R) end, t:w(requests, [Q || {req, Q} <- t:flush()]), t:w(same, group_leader() =:= Old), t:e(bad, fun() -> io:format("~w", [1, 2]) end), t:e(dead, fun() -> io:put_chars(P, "x") end), t:e(name, fun() -> io:put_chars(no_such_device, "x") end), t:w(error, io:request(GL, bogus)), S = element(2, file:open("text\nlines\n", [ram, read, binary])), t:w(ram, [file:read(S, 3), file:position(S, 0), file:read(S, 100)]), t:w(printable, io:printable_range()).
leader(Me) -> receive {io_request, F, A, Q} -> Me ! {req, case Q of {put_chars, E, Mo, Fu, Ar} -> {put_chars, E, lists:flatten(apply(Mo, Fu, Ar))}; {get_until, E, Pr, Mo, Fu, _} -> {get_until, E, Pr, Mo, Fu}; _ -> Q end}, F ! {io_reply, A, case element(1, x(Q)) of get_line -> "typed\n"; get_until -> {ok, [5]}; bogus -> {error, request}; getopts -> [{a, b}]; get_geometry -> 77; _ -> ok end}, leader(Me) end.
x(Q) when is_atom(Q) -> {Q}; x(Q) -> Q.
