%% The VM ends in some way while a reader has not taken what it was sent. The reader waits, so what is sent stays queued.
-module(ends).
-export([main/1]).

main([Kind, Way | Where]) ->
    Me = self(),
    {Sender, Monitor} = spawn_monitor(fun() -> give(Kind, Where), Me ! sent, receive stop -> ok end end),
    receive
        sent -> ok;
        {'DOWN', Monitor, process, Sender, Reason} -> exit(Reason)
    end,
    leave(Way),
    receive after infinity -> ok end.

bytes() -> binary:copy(<<"0123456789abcdef">>, 375000).

give("socket", [Port]) ->
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, list_to_integer(Port), [binary, {active, false}]),
    ok = gen_tcp:send(Socket, bytes());
give("closed", [Port]) ->
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, list_to_integer(Port), [binary, {active, false}]),
    ok = gen_tcp:send(Socket, bytes()),
    true = unlink(Socket),
    true = port_close(Socket);
give("descriptor", []) ->
    true = port_command(open_port({fd, 0, 1}, [out, binary]), bytes()).

leave("stop") -> init:stop(3);
leave("halt") -> halt(3);
leave("at once") -> halt(3, [{flush, false}]);
leave("limit") -> halt(3, [{flush_timeout, 300}]);
leave("slogan") -> halt("a slogan");
leave("terminated") -> os:cmd("kill -TERM " ++ os:getpid()).
