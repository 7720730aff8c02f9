%% Many processes at the same sockets, and killed at any moment: what arrives is right, and nothing stays open.
-module(socket_storm).
-export([main/1]).

main(_) ->
    _ = rand:seed(exsss, 7),
    Before = descriptors(),
    {ok, L} = socket:open(inet, stream, tcp),
    ok = socket:bind(L, #{family => inet, addr => loopback, port => 0}),
    ok = socket:listen(L, 200),
    {ok, Addr} = socket:sockname(L),
    Acceptors = [spawn(fun() -> acceptor(L) end) || _ <- lists:seq(1, 8)],
    t:w(echoes, lists:usort([storm(Addr) || _ <- lists:seq(1, 6)])),
    shared(Addr),
    [exit(P, kill) || P <- Acceptors],
    ok = socket:close(L),
    t:w(left, t:wait_until(fun() -> descriptors() =< Before end)),
    t:w(registered, t:wait_until(fun() -> socket:number_of() =:= 0 end)).

descriptors() ->
    {ok, Names} = file:list_dir("/proc/self/fd"),
    length(Names).

acceptor(L) ->
    case socket:accept(L) of
        {ok, S} ->
            Pid = spawn(fun() -> receive {go, S} -> echo(S) end end),
            _ = socket:setopt(S, {otp, controlling_process}, Pid),
            Pid ! {go, S},
            acceptor(L);
        {error, _} -> ok
    end.

echo(S) ->
    case socket:recv(S) of
        {ok, Data} -> case socket:send(S, Data) of ok -> echo(S); _ -> ok end;
        _ -> ok
    end.

%% 20 clients: a third ends by itself, a third is killed, a third closes while another process receives.
storm(Addr) ->
    Clients = [spawn_monitor(fun() -> client(Addr, N, 10) end) || N <- lists:seq(1, 20)],
    [begin timer:sleep(rand:uniform(3)), exit(Pid, kill) end || {Pid, _} <- Clients, rand:uniform(3) =:= 1],
    lists:usort([receive {'DOWN', M, _, _, Why} -> Why after 10000 -> hang end || {_, M} <- Clients]) -- [killed, normal, noproc].

client(Addr, N, Times) ->
    {ok, C} = socket:open(inet, stream, tcp),
    ok = socket:connect(C, Addr),
    [begin
         Data = binary:copy(<<N>>, 1000 * N),
         spawn_link(fun() -> _ = socket:send(C, Data) end),
         {ok, Data} = socket:recv(C, byte_size(Data))
     end || _ <- lists:seq(1, Times)],
    spawn(fun() -> socket:recv(C, 1) end),
    socket:close(C).

%% One socket, ten senders and ten receivers, each of one byte; half of the receivers are killed while they wait.
shared(Addr) ->
    {ok, C} = socket:open(inet, stream, tcp),
    ok = socket:connect(C, Addr),
    Self = self(),
    Readers = [spawn(fun() -> Self ! {read, socket:recv(C, 1, 5000)} end) || _ <- lists:seq(1, 20)],
    ok = t:wait_until(fun() -> maps:get(num_readers, socket:info(C)) =:= 20 end),
    {Killed, _} = lists:split(10, lists:sort(fun(_, _) -> rand:uniform(2) =:= 1 end, Readers)),
    [exit(P, kill) || P <- Killed],
    [spawn(fun() -> ok = socket:send(C, <<"x">>) end) || _ <- lists:seq(1, 10)],
    t:w(shared, lists:usort([receive {read, R} -> R after 5000 -> none end || _ <- lists:seq(1, 10)])),
    ok = socket:close(C).
