%% Files sent over connections by the system (file:sendfile), and local stream sockets.
-module(tcp_sendfile).
-export([main/1]).

main(_) ->
    Dir = t:tmp(tcp_sendfile),
    File = filename:join(Dir, "file"),
    Data = binary:copy(<<"0123456789abcdef">>, 1 bsl 17),
    ok = file:write_file(File, Data),
    parts(File, Data), among(File, Data), errors(File), slow(File, Data), ends(File), halves(File, Data), local(Dir, File, Data).

pair() ->
    {ok, L} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {active, false}, binary]),
    {ok, Port} = inet:port(L),
    {ok, A} = gen_tcp:connect({127, 0, 0, 1}, Port, [{active, false}, binary]),
    {ok, B} = gen_tcp:accept(L),
    gen_tcp:close(L),
    {A, B}.

%% Reads all until the other side closes.
reader(S) ->
    Me = self(),
    Pid = spawn_link(fun() -> receive go -> Me ! {all, self(), all(S, [])} end end),
    ok = gen_tcp:controlling_process(S, Pid),
    Pid ! go,
    Pid.

all(S, Got) ->
    case gen_tcp:recv(S, 0, 10000) of
        {ok, D} -> all(S, [D | Got]);
        {error, closed} -> iolist_to_binary(lists:reverse(Got));
        Other -> Other
    end.

sent(F) ->
    {A, B} = pair(),
    Pid = reader(B),
    R = F(A),
    gen_tcp:close(A),
    receive {all, Pid, D} -> unlink(Pid), {R, D} after 10000 -> {R, timeout} end.

parts(File, Data) ->
    {R, D} = sent(fun(A) -> file:sendfile(File, A) end),
    t:w(whole, {R, D =:= Data}),
    {ok, Fd} = file:open(File, [raw, read, binary]),
    [t:w({Offset, Bytes}, begin {R1, D1} = sent(fun(A) -> file:sendfile(Fd, A, Offset, Bytes, []) end), {R1, D1 =:= part(Data, Offset, Bytes)} end) ||
        {Offset, Bytes} <- [{0, 10}, {5, 11}, {1 bsl 20, 0}, {(1 bsl 21) - 3, 100}, {1 bsl 21, 5}, {1 bsl 30, 5}]],
    t:w(position, file:position(Fd, cur)),
    t:w(chunks, begin {R2, D2} = sent(fun(A) -> file:sendfile(Fd, A, 0, 100, [{chunk_size, 7}]) end), {R2, byte_size(D2)} end),
    file:close(Fd).

part(Data, Offset, _) when Offset >= byte_size(Data) -> <<>>;
part(Data, Offset, 0) -> binary:part(Data, Offset, byte_size(Data) - Offset);
part(Data, Offset, Bytes) -> binary:part(Data, Offset, min(Bytes, byte_size(Data) - Offset)).

%% Before, after and between other sends.
among(File, Data) ->
    {R, D} = sent(fun(A) ->
                          [gen_tcp:send(A, "before"), element(1, file:sendfile(File, A)), gen_tcp:send(A, "between"),
                           element(1, file:sendfile(File, A)), gen_tcp:send(A, "after")]
                  end),
    t:w(among, {R, D =:= <<"before", Data/binary, "between", Data/binary, "after">>}).

errors(File) ->
    {A, B} = pair(),
    t:w(no_file, file:sendfile("/nonesuch", A)),
    {ok, Fd} = file:open(File, [raw, read, binary]),
    t:w(negative, [file:sendfile(Fd, A, O, N, []) || {O, N} <- [{-1, 1}, {0, -1}]]),
    file:close(Fd),
    t:w(closed_file, file:sendfile(Fd, A, 0, 1, [])),
    gen_tcp:close(A),
    {ok, Fd2} = file:open(File, [raw, read, binary]),
    t:w(closed_socket, file:sendfile(Fd2, A, 0, 1, [])),
    {ok, S} = prim_inet:open(tcp, inet, stream),
    t:w(not_connected, file:sendfile(Fd2, S, 0, 1, [])),
    {ok, U} = gen_udp:open(0, []),
    t:w(datagrams, prim_inet:sendfile(U, <<0:32>>, 0, 1)),
    t:w(bytes, [prim_inet:sendfile(S, X, 0, 1) || X <- [<<>>, <<1>>, <<-1:32/native>>]]),
    gen_udp:close(U), prim_inet:close(S), gen_tcp:close(B), file:close(Fd2).

%% A reader that is slow: what another process sends meanwhile comes after the file.
slow(File, Data) ->
    {A, B} = pair(),
    Me = self(),
    Big = filename:join(filename:dirname(File), "big"),
    ok = file:write_file(Big, [Data, Data, Data, Data, Data, Data, Data, Data]),
    Sender = spawn_link(fun() -> receive go -> ok end, Me ! {sent, file:sendfile(Big, A)}, receive stop -> gen_tcp:close(A) end end),
    ok = gen_tcp:controlling_process(A, Sender),
    Sender ! go,
    timer:sleep(50),
    t:w(waits, receive {sent, _} -> sent after 0 -> waits end),
    Other = spawn_link(fun() -> Me ! {other, gen_tcp:send(A, "after the file")} end),
    timer:sleep(20),
    {ok, All} = gen_tcp:recv(B, 8 * byte_size(Data), 10000),
    t:w(sent, receive {sent, R} -> R after 5000 -> none end),
    t:w(same, All =:= iolist_to_binary(lists:duplicate(8, Data))),
    t:w(after_it, {receive {other, O} -> O after 5000 -> none end, gen_tcp:recv(B, 14, 5000)}),
    unlink(Other),
    Sender ! stop,
    gen_tcp:close(B).

%% The other side closes while a file is being sent.
ends(File) ->
    Big = filename:join(filename:dirname(File), "big"),
    {A, B} = pair(),
    Me = self(),
    spawn_link(fun() -> timer:sleep(50), Me ! {closed, gen_tcp:close(B)} end),
    t:w(other_side_closed, file:sendfile(Big, A)),
    t:w(closed, receive {closed, R} -> R end),
    gen_tcp:close(A).

%% The file's rest goes out though the connection is shut down for writing meanwhile.
halves(File, Data) ->
    {R, D} = sent(fun(A) -> {element(1, file:sendfile(File, A)), gen_tcp:shutdown(A, write)} end),
    t:w(shut_down_after, {R, D =:= Data}).

local(Dir, File, Data) ->
    Path = filename:join(Dir, "socket"),
    {ok, L} = gen_tcp:listen(0, [{ifaddr, {local, Path}}, {active, false}, binary]),
    t:w(listening, prim_inet:gettype(L)),
    t:w(names, case inet:sockname(L) of {ok, {local, P}} -> filename:basename(P); O -> O end),
    {ok, A} = gen_tcp:connect({local, Path}, 0, [{active, false}, binary, {packet, 4}]),
    {ok, B} = gen_tcp:accept(L),
    ok = inet:setopts(B, [{packet, 4}]),
    t:w(unnamed, {inet:sockname(A), inet:peername(B)}),
    t:w(there_and_back, {gen_tcp:send(A, "there"), gen_tcp:recv(B, 0, 2000), gen_tcp:send(B, "back"), gen_tcp:recv(A, 0, 2000)}),
    ok = inet:setopts(B, [{packet, raw}]), ok = inet:setopts(A, [{packet, raw}]),
    Pid = reader(B),
    t:w(file, file:sendfile(File, A)),
    gen_tcp:close(A),
    t:w(file, receive {all, Pid, D} -> D =:= Data end),
    t:w(in_use, gen_tcp:listen(0, [{ifaddr, {local, Path}}])),
    gen_tcp:close(L),
    t:w(refused, gen_tcp:connect({local, Path}, 0, [])),
    t:w(none, gen_tcp:connect({local, filename:join(Dir, "none")}, 0, [])),
    t:e(too_long, fun() -> gen_tcp:connect({local, lists:duplicate(200, $x)}, 0, []) end),
    {ok, X} = gen_tcp:listen(0, [{ifaddr, {local, iolist_to_binary([0, "heddle abstract ", os:getpid()])}}]),
    t:w(abstract, case inet:sockname(X) of {ok, {local, <<0, "heddle abstract ", _/binary>>}} -> ok; Else -> Else end),
    gen_tcp:close(X).
