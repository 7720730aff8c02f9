%% The owner of a port is killed while others send to it, link to it, watch it and ask it: each of them hears, none waits forever, and
%% nothing of the port is left.
-module(port_owner_dies).
-export([main/1]).

main(_) ->
    process_flag(trap_exit, true),
    Before = length(erlang:ports()),
    t:w(rounds, lists:usort([kill_owner(N) || N <- lists:seq(1, 40)])),
    t:w(left, t:wait_until(fun() -> length(erlang:ports()) =:= Before end)).

kill_owner(N) ->
    Me = self(),
    Owner = spawn(fun() ->
        Port = open_port({spawn, "cat"}, [binary]),
        Me ! {port, Port},
        swallow(Port)
    end),
    Port = receive {port, P} -> P end,
    Gone = monitor(port, Port),
    Senders = [spawn_monitor(fun() -> Me ! {ready, self()}, use(K, Port, Owner) end) || K <- lists:seq(1, 8)],
    [receive {ready, S} -> ok end || {S, _} <- Senders],
    receive after N rem 4 -> ok end,
    exit(Owner, kill),
    Down = receive {'DOWN', Gone, port, Port, Why} -> Why after 10000 -> timeout end,
    Ends = [receive {'DOWN', M, process, S, E} -> ending(E) after 10000 -> timeout end || {S, M} <- Senders],
    {Down, lists:usort(Ends), erlang:port_info(Port)}.

swallow(Port) -> receive {Port, {data, _}} -> swallow(Port) end.

ending({badarg, _}) -> ended;
ending(gone) -> ended;
ending({noproc, _}) -> ended;
ending(noproc) -> ended;
ending(killed) -> ended;
ending(Other) -> Other.

%% Until the port is gone.
use(K, Port, Owner) ->
    case K rem 4 of
        0 -> port_command(Port, <<"0123456789">>);
        1 ->
            Port ! {Owner, {command, <<"0123456789">>}},
            erlang:port_info(Port) =:= undefined andalso exit(gone);
        2 ->
            link(Port),
            unlink(Port),
            erlang:port_info(Port, links) =:= undefined andalso exit(gone);
        3 ->
            M = monitor(port, Port),
            receive {'DOWN', M, port, Port, _} -> exit(gone) after 0 -> demonitor(M, [flush]) end
    end,
    use(K, Port, Owner).
