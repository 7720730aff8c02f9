%% Names and addresses of hosts through the system's resolver, by many processes at a time, and when the resolver's port was restarted.
-module(host_names).
-export([main/1]).

main(_) ->
    io:format("~p~n", [[inet:gethostbyname(Name, Family) || Name <- ["127.0.0.1", '127.0.0.1', "no such name!", ""], Family <- [inet]]]),
    io:format("~p~n", [[inet_gethost_native:gethostbyname(Name, inet6) || Name <- ["::1", "fe80::1", "no such name!"]]]),
    {ok, {hostent, _, _, inet, 4, Local}} = inet:gethostbyname("localhost"),
    io:format("~p~n", [Local]),
    io:format("~p~n", [[native("127.0.0.1"), native("1.2.3.4")]]),
    io:format("~p~n", [inet:gethostbyaddr({0, 0, 0, 0})]),
    io:format("~p~n", [inet_gethost_native:control({debug_level, 0})]),
    Me = self(),
    [spawn(fun() -> Me ! {N, inet_gethost_native:gethostbyname("127.0.0." ++ integer_to_list(N))} end) || N <- lists:seq(1, 100)],
    io:format("~p~n", [lists:all(fun(N) ->
                                         receive {N, {ok, {hostent, _, _, inet, 4, Addresses}}} -> Addresses =:= [{127, 0, 0, N}] end
                                 end, lists:seq(1, 100))]),
    io:format("~p~n", [inet_gethost_native:control(soft_restart)]),
    io:format("~p~n", [native("127.0.0.7")]),
    {ok, Listener} = gen_tcp:listen(0, []),
    {ok, Port} = inet:port(Listener),
    {ok, _} = gen_tcp:connect("127.0.0.1", Port, []),
    {ok, _} = gen_tcp:connect("localhost", Port, [inet]),
    io:format("connected~n").

native(Name) -> inet_gethost_native:gethostbyname(Name).
