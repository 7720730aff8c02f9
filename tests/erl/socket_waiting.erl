%% The module socket: processes that wait at one socket, cancelling, closing, ends of owners and of those that wait, the registry.
-module(socket_waiting).
-export([main/1]).

main(_) ->
    readers(),
    cancel(),
    close(),
    owners(),
    acceptors(),
    writers(),
    connecting(),
    registry(),
    nowait().

pair() ->
    {ok, L} = socket:open(inet, stream, tcp),
    ok = socket:bind(L, #{family => inet, addr => loopback, port => 0}),
    ok = socket:listen(L),
    {ok, Addr} = socket:sockname(L),
    {ok, C} = socket:open(inet, stream, tcp),
    ok = socket:connect(C, Addr),
    {ok, S} = socket:accept(L),
    ok = socket:close(L),
    {C, S}.

reader(S, Length, N) ->
    Self = self(),
    Pid = spawn(fun() -> Self ! {reader, N, catch socket:recv(S, Length)} end),
    t:wait_until(fun() -> {status, waiting} =:= process_info(Pid, status) end),
    Pid.

waiting(S, N) -> t:wait_until(fun() -> maps:get(num_readers, socket:info(S)) =:= N end).

got(N) -> receive {reader, N, What} -> What after 2000 -> none end.

%% Processes receive in the order in which they asked.
readers() ->
    {C, S} = pair(),
    [begin reader(S, 2, N), ok = waiting(S, N) end || N <- [1, 2, 3]],
    ok = socket:send(C, <<"aabbcc">>),
    t:w(readers, [got(N) || N <- [1, 2, 3]]),
    %% One that ends leaves its turn to the next.
    First = reader(S, 2, 1),
    ok = waiting(S, 1),
    [begin reader(S, 2, N), ok = waiting(S, N) end || N <- [2, 3]],
    exit(First, kill),
    ok = waiting(S, 2),
    ok = socket:send(C, <<"xxyy">>),
    t:w(left, [got(2), got(3)]),
    %% The other end closes.
    [begin reader(S, 2, N), ok = waiting(S, N) end || N <- [1, 2]],
    ok = socket:close(C),
    t:w(ended, [got(1), got(2)]),
    ok = socket:close(S).

cancel() ->
    {C, S} = pair(),
    {select, Info} = socket:recv(S, 0, [], nowait),
    t:w(cancelled, [socket:cancel(S, Info), socket:cancel(S, Info), t:flush()]),
    {select, {select_info, Tag, _}} = socket:recv(S, 0, [], nowait),
    t:w(other, socket:cancel(S, {select_info, Tag, make_ref()})),
    t:e(wrong, fun() -> socket:cancel(S, {select_info, foo, make_ref()}) end),
    ok = socket:send(C, <<"data">>),
    t:w(after_all, receive {'$socket', S, select, _} -> socket:recv(S, 0, [], nowait) after 1000 -> none end),
    t:w(with_handle, begin Ref = make_ref(), {select, {select_info, recv, Ref}} = socket:recv(S, 0, [], Ref), socket:cancel(S, {select_info, recv, Ref}) end),
    [ok = socket:close(X) || X <- [C, S]].

%% Closing tells all that wait.
close() ->
    {C, S} = pair(),
    [begin reader(S, 2, N), ok = waiting(S, N) end || N <- [1, 2, 3]],
    ok = socket:close(S),
    t:w(close, [got(N) || N <- [1, 2, 3]]),
    {C2, S2} = pair(),
    {select, {select_info, _, Ref}} = socket:recv(S2, 0, [], nowait),
    ok = socket:close(S2),
    t:w(abort, receive {'$socket', S2, abort, {Ref, Reason}} -> Reason after 1000 -> none end),
    t:w(closed_elsewhere, begin Self = self(), spawn(fun() -> Self ! {c, socket:close(C2)} end), receive {c, R} -> R end end),
    ok = socket:close(C).

owners() ->
    Self = self(),
    {C, S} = pair(),
    {Pid, Mon} = spawn_monitor(fun() -> receive {take, X} -> Self ! {owner, socket:getopt(X, otp, controlling_process) =:= {ok, self()}} end,
                                        receive stop -> ok end end),
    t:w(not_owner, begin spawn(fun() -> Self ! {no, socket:setopt(S, otp, controlling_process, self())} end), receive {no, E} -> E end end),
    ok = socket:setopt(S, {otp, controlling_process}, Pid),
    Pid ! {take, S},
    t:w(owner, receive {owner, Is} -> Is end),
    reader(S, 1, 1),
    Pid ! stop,
    receive {'DOWN', Mon, _, _, _} -> ok end,
    t:w(owner_ended, [got(1), socket:recv(C, 1, 1000), socket:send(S, <<1>>)]),
    {C2, S2} = pair(),
    Dead = spawn(fun() -> ok end),
    t:wait_until(fun() -> not is_process_alive(Dead) end),
    t:w(to_dead, [socket:setopt(S2, {otp, controlling_process}, Dead), socket:recv(C2, 1, 1000), socket:info(S2) =/= []]),
    [ok = socket:close(X) || X <- [C, C2]].

acceptors() ->
    {ok, L} = socket:open(inet, stream, tcp),
    ok = socket:bind(L, #{family => inet, addr => loopback, port => 0}),
    ok = socket:listen(L),
    {ok, Addr} = socket:sockname(L),
    Self = self(),
    Acceptors = [begin
                     Pid = spawn(fun() -> Self ! {accepted, N, element(1, socket:accept(L))}, receive stop -> ok end end),
                     t:wait_until(fun() -> maps:get(num_acceptors, socket:info(L)) =:= N end),
                     Pid
                 end || N <- [1, 2, 3]],
    Clients = [begin {ok, C} = socket:open(inet, stream, tcp), ok = socket:connect(C, Addr), C end || _ <- [1, 2]],
    t:w(acceptors, [receive {accepted, N, R} -> {N, R} after 2000 -> none end || N <- [1, 2]]),
    t:w(states, lists:sort(maps:get(rstates, socket:info(L)))),
    t:w(busy, socket:recv(L, 0, [], nowait)),
    ok = socket:close(L),
    t:w(aborted, receive {accepted, 3, R} -> R after 2000 -> none end),
    [Pid ! stop || Pid <- Acceptors],
    [ok = socket:close(C) || C <- Clients].

writers() ->
    {C, S} = pair(),
    Self = self(),
    Data = binary:copy(<<"w">>, 1 bsl 24),
    W1 = spawn(fun() -> Self ! {writer, 1, socket:send(C, Data)} end),
    t:wait_until(fun() -> maps:get(num_writers, socket:info(C)) =:= 1 end),
    spawn(fun() -> Self ! {writer, 2, socket:send(C, <<"after">>)} end),
    t:wait_until(fun() -> maps:get(num_writers, socket:info(C)) =:= 2 end),
    {ok, Got} = socket:recv(S, (1 bsl 24) + 5),
    t:w(writers, [binary:part(Got, byte_size(Got), -5) | [receive {writer, N, R} -> R end || N <- [1, 2]]]),
    _ = W1,
    t:w(send_timeout, begin {error, {timeout, Rest}} = socket:send(C, Data, 50), byte_size(Rest) > 0 end),
    %% The system may have found room for some more meanwhile.
    case socket:send(C, Data, [], nowait) of
        {select, {select_info, _, _}} -> ok;
        {select, {{select_info, _, _}, <<_, _/binary>>}} -> ok
    end,
    [ok = socket:close(X) || X <- [S, C]],
    t:flush().

connecting() ->
    {ok, C} = socket:open(inet, stream, tcp),
    %% An address of which no packet comes back (TEST-NET-1), or to which there is no way.
    case socket:connect(C, #{family => inet, addr => {192, 0, 2, 77}, port => 9}, nowait) of
        {select, Info} ->
            {error, already} = begin Self = self(), spawn(fun() -> Self ! {r, socket:connect(C, #{family => inet, addr => {192, 0, 2, 77}, port => 9}, nowait)} end), receive {r, R} -> R end end,
            %% It may have been told already that there is no way.
            _ = socket:cancel(C, Info),
            _ = t:flush();
        {error, _} -> ok
    end,
    t:e(not_connecting, fun() -> prim_socket:connect(element(2, C)) end),
    ok = socket:close(C),
    {ok, D} = socket:open(inet, stream, tcp),
    t:w(not_connected, [socket:send(D, <<1>>), socket:recv(D, 1), socket:peername(D), socket:shutdown(D, read)]),
    t:w(close, socket:close(D)).

registry() ->
    N = socket:number_of(),
    {ok, S} = socket:open(inet, dgram, udp),
    Mon = socket:monitor(S),
    t:w(registry, [socket:number_of() - N, lists:member(S, socket:which_sockets()), length(socket:which_sockets(fun(#{type := T}) -> T =:= dgram end)) >= 1]),
    ok = socket:close(S),
    t:w(down, receive {'DOWN', Mon, socket, S, Reason} -> Reason after 1000 -> none end),
    {ok, Q} = socket:open(inet, dgram, udp, #{use_registry => false}),
    t:w(unregistered, [lists:member(Q, socket:which_sockets()), socket:setopt(Q, {otp, use_registry}, true), socket:setopt(Q, {otp, use_registry}, false), socket:getopt(Q, {otp, use_registry})]),
    ok = socket:close(Q),
    t:w(gone, t:wait_until(fun() -> socket:number_of() =:= N end)).

nowait() ->
    {C, S} = pair(),
    {select, {select_info, _, _}} = socket:recv(S, 3, [], nowait),
    ok = socket:send(C, <<"ab">>),
    t:w(nowait, receive {'$socket', S, select, _} -> element(1, socket:recv(S, 3, [], nowait)) after 1000 -> none end),
    ok = socket:send(C, <<"c">>),
    t:w(nowait, receive {'$socket', S, select, _} -> socket:recv(S, 3, [], nowait) after 1000 -> none end),
    [ok = socket:close(X) || X <- [C, S]],
    t:w(messages, t:flush()).
