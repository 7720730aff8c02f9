%% Packets are received by the schedulers themselves: the poll thread does not wake up for each of them.
-module(heddle_poll_thread).
-export([main/1]).

-define(PACKETS, 2000).

main(_) ->
    Options = [binary, {packet, 4}, {active, false}, {ip, {127, 0, 0, 1}}],
    {ok, Listener} = gen_tcp:listen(0, Options),
    {ok, Port} = inet:port(Listener),
    spawn_link(fun() -> {ok, Server} = gen_tcp:accept(Listener), answer(Server) end),
    {ok, Client} = gen_tcp:connect({127, 0, 0, 1}, Port, Options),
    Before = {switches(), erlang:monotonic_time(millisecond)},
    ask(Client, ?PACKETS),
    %% It looks at the descriptors every 10 ms while the schedulers have work.
    {Switches, Ms} = {switches() - element(1, Before), erlang:monotonic_time(millisecond) - element(2, Before)},
    case Switches =< ?PACKETS div 10 + Ms div 5 of
        true -> io:format("it slept~n");
        false -> io:format("~p switches in ~p ms~n", [Switches, Ms])
    end.

answer(Socket) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, Packet} -> ok = gen_tcp:send(Socket, Packet), answer(Socket);
        {error, closed} -> ok
    end.

ask(_, 0) -> ok;
ask(Socket, N) ->
    ok = gen_tcp:send(Socket, <<N:32>>),
    {ok, <<N:32>>} = gen_tcp:recv(Socket, 0),
    ask(Socket, N - 1).

%% How often the poll thread gave its core away.
switches() ->
    [Thread] = [Dir || Dir <- filelib:wildcard("/proc/self/task/*"), file:read_file(Dir ++ "/comm") =:= {ok, <<"poller\n">>}],
    {ok, Status} = file:read_file(Thread ++ "/status"),
    {match, [Count]} = re:run(Status, "\nvoluntary_ctxt_switches:\\s*([0-9]+)", [{capture, all_but_first, list}]),
    list_to_integer(Count).
