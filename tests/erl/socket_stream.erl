%% The module socket, streams: connections, receiving with and without a length, parts, ends, vectors, figures.
-module(socket_stream).
-export([main/1]).

main(_) ->
    {L, Addr} = listener(inet),
    {C, S} = pair(L, Addr),
    t:w(peer, socket:peername(C) =:= socket:sockname(S)),
    ok = socket:send(C, <<"hello world">>),
    t:w(length, socket:recv(S, 5)),
    t:w(rest, socket:recv(S)),
    t:w(timeout, {socket:recv(S, 4, 20), socket:recv(S, 0, 0), socket:recv(S, 3, 0)}),
    ok = socket:send(C, <<"ab">>),
    t:w(part_in_time, socket:recv(S, 4, 50)),
    ok = socket:send(C, <<"cd">>),
    t:w(whole, socket:recv(S, 4)),
    {select, {select_info, _, Ref}} = socket:recv(S, 4, [], nowait),
    ok = socket:send(C, <<"efgh">>),
    t:w(selected, receive {'$socket', S, select, Ref} -> socket:recv(S, 4, [], nowait) after 1000 -> none end),
    ok = socket:send(C, <<"peek">>),
    t:w(peek, {socket:recv(S, 4, [peek]), socket:recv(S, 4)}),
    ok = socket:sendv(C, [<<"a">>, <<>>, <<"bc">>, <<1:8, 2:8>>]),
    t:w(vector, socket:recv(S, 5)),
    ok = socket:sendmsg(C, #{iov => [<<"x">>, <<"yz">>]}),
    t:w(message, clean(socket:recvmsg(S))),
    ok = socket:send(C, [<<"io">>, $l, ["ist"]]),
    t:w(from, socket:recvfrom(S, 0)),
    Large = binary:copy(<<"0123456789abcdef">>, 1 bsl 16),
    Self = self(),
    spawn_link(fun() -> Self ! {sent, socket:send(C, Large)} end),
    {ok, Got} = socket:recv(S, byte_size(Large)),
    t:w(large, {Got =:= Large, receive {sent, R} -> R end}),
    Many = [<<N>> || N <- lists:seq(0, 255), _ <- lists:seq(1, 10)],
    ok = socket:sendv(C, Many),
    t:w(many, element(2, socket:recv(S, 2560)) =:= iolist_to_binary(Many)),
    t:w(info, info(S)),
    ok = socket:setopt(S, {otp, rcvbuf}, {3, 16}),
    ok = socket:send(C, binary:copy(<<"z">>, 64)),
    t:w(buffers, socket:recv(S)),
    t:w(others, socket:recv(S)),
    ok = socket:send(C, <<"last">>),
    ok = socket:shutdown(C, write),
    t:w(closed, {socket:recv(S, 10), socket:recv(S), socket:recvfrom(S), socket:recvmsg(S)}),
    t:w(still, socket:send(S, <<"back">>)),
    t:w(back, socket:recv(C, 4)),
    t:w(close, {socket:close(C), socket:close(C), socket:recv(C), socket:send(C, <<1>>), socket:sockname(C)}),
    t:w(info_closed, info(C)),
    ok = socket:close(S),
    t:w(refused, begin ok = socket:close(L), {ok, D} = socket:open(inet, stream), socket:connect(D, Addr, 2000) end),
    parts(),
    six(),
    local().

%% A receive keeps what came of it, whatever is asked next, and however large it is.
parts() ->
    {L, Addr} = listener(inet),
    {C, S} = pair(L, Addr),
    [begin
         ok = socket:send(C, binary:copy(<<"p">>, Sent)),
         R1 = socket:recv(S, Asked, 30),
         ok = socket:send(C, binary:copy(<<"q">>, More)),
         timer:sleep(10),
         {ok, R2} = socket:recv(S, Next, 1000),
         R3 = socket:recv(S, 0, 0),
         t:w({parts, Sent, Asked, More, Next}, [R1, byte_size(R2), erlang:crc32(R2), case R3 of {ok, B} -> byte_size(B); _ -> R3 end]),
         drain(S)
     end || {Sent, Asked, More, Next} <- [{3, 10, 7, 10}, {3, 10, 7, 2}, {3, 10, 7, 5}, {3, 10, 0, 0}, {3000, 9000, 6000, 9000}, {3000, 9000, 6000, 100},
                                          {3000, 9000, 0, 0}, {3000, 9000, 6000, 8000}, {50000, 100000, 50000, 100000}, {10, 100000, 100, 50}, {10, 5000, 7000, 6000}]],
    ok = socket:send(C, <<"left">>),
    {error, timeout} = socket:recv(S, 10000, 30),
    ok = socket:close(C),
    t:w(ended, [socket:recv(S, 10000), socket:recv(S, 10000)]),
    [socket:close(X) || X <- [S, L]].

drain(S) ->
    case socket:recv(S, 0, 20) of
        {ok, _} -> drain(S);
        {error, timeout} -> ok
    end.

six() ->
    {L, Addr} = listener(inet6),
    {C, S} = pair(L, Addr),
    ok = socket:send(C, <<"six">>),
    t:w(six, {socket:recv(S, 3), [lists:sort(maps:to_list(maps:remove(port, A))) || {ok, A} <- [socket:peername(C), socket:sockname(L)]]}),
    [ok = socket:close(X) || X <- [C, S, L]].

local() ->
    Path = filename:join(t:tmp(?MODULE), "s"),
    {ok, L} = socket:open(local, stream),
    ok = socket:bind(L, #{family => local, path => Path}),
    ok = socket:listen(L),
    {ok, C} = socket:open(local, stream),
    ok = socket:connect(C, #{family => local, path => Path}),
    {ok, S} = socket:accept(L),
    ok = socket:send(C, <<"local">>),
    {ok, #{path := Named}} = socket:sockname(L),
    t:w(local, {socket:recv(S, 5), Named =:= list_to_binary(Path), socket:peername(S), socket:getopt(C, socket, protocol)}),
    {ok, A} = socket:open(local, stream),
    t:w(abstract, {socket:bind(A, #{family => local, path => <<0, "heddle", (list_to_binary(os:getpid()))/binary>>}),
                   begin {ok, #{path := <<Zero, _/binary>>}} = socket:sockname(A), Zero end}),
    t:w(long, begin {ok, B} = socket:open(local, dgram), socket:bind(B, #{family => local, path => lists:duplicate(200, $a)}) end).

listener(Family) ->
    {ok, L} = socket:open(Family, stream, tcp),
    ok = socket:bind(L, #{family => Family, addr => loopback, port => 0}),
    ok = socket:listen(L),
    {ok, Addr} = socket:sockname(L),
    {L, Addr}.

pair(L, Addr) ->
    {ok, C} = socket:open(maps:get(family, Addr), stream, tcp),
    ok = socket:connect(C, Addr),
    {ok, S} = socket:accept(L),
    {C, S}.

clean({ok, Map}) -> {ok, lists:sort(maps:to_list(Map))}.

%% Without what depends on how many bytes came at a time.
info(S) ->
    #{counters := Counters, owner := Owner} = Info = socket:info(S),
    [{K, V} || {K, V} <- lists:sort(maps:to_list(Info)), K =/= counters, K =/= owner, K =/= rstates]
        ++ [Owner =:= self() | [{K, maps:get(K, Counters)} || K <- [read_fails, write_byte, write_fails, acc_tries]]].
