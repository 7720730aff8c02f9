%% The module socket: files that the system sends, and questions about the interface lo.
-module(socket_files).
-export([main/1]).

main(_) ->
    {ok, S} = socket:open(inet, dgram, udp),
    [t:w(R, sort(socket:ioctl(S, R, "lo"))) || R <- [gifaddr, gifflags, gifindex, gifmap, gifnetmask]],
    t:w(others, [socket:ioctl(S, gifname, 1), socket:ioctl(S, gifname, 99999), socket:ioctl(S, nread), socket:ioctl(S, atmark), socket:ioctl(S, gifaddr, "nonesuch"),
                 socket:ioctl(S, sifflags, "nonesuch", #{up => true}), socket:ioctl(S, sifmtu, "nonesuch", 5), prim_socket:ioctl(element(2, S), nonesuch), prim_socket:ioctl(element(2, S), 12345)]),
    {ok, All} = socket:ioctl(S, gifconf),
    t:w(all, [sort(I) || #{name := "lo"} = I <- All]),
    ok = socket:close(S),
    t:w(closed, [socket:ioctl(S, gifconf), socket:ioctl(S, gifaddr, "lo")]),
    sendfile().

sendfile() ->
    Path = filename:join(t:tmp(?MODULE), "file"),
    Data = binary:copy(<<"0123456789">>, 1000000),
    ok = file:write_file(Path, Data),
    {ok, L} = socket:open(inet, stream, tcp),
    ok = socket:bind(L, #{family => inet, addr => loopback, port => 0}),
    ok = socket:listen(L),
    {ok, Addr} = socket:sockname(L),
    {ok, C} = socket:open(inet, stream, tcp),
    ok = socket:connect(C, Addr),
    {ok, S} = socket:accept(L),
    Self = self(),
    spawn_link(fun() -> timer:sleep(50), {ok, Got} = socket:recv(S, 10001010), Self ! {got, erlang:crc32(Got)} end),
    {ok, F} = file:open(Path, [raw, read, binary]),
    t:w(sendfile, [socket:sendfile(C, F), socket:sendfile(C, F, 500, 1000, infinity), socket:sendfile(C, F, 9999990, 0, infinity), socket:sendfile(C, F, 50000000, 10, 1000)]),
    t:w(same, receive {got, Sum} -> Sum =:= erlang:crc32([Data, binary:part(Data, 500, 1000), binary:part(Data, 9999990, 10)]) after 5000 -> none end),
    Counters = maps:get(counters, socket:info(C)),
    t:w(figures, [maps:get(K, Counters) || K <- [sendfile_byte, sendfile_fails, sendfile_tries, sendfile_max]]),
    %% The other end does not read.
    {error, {timeout, Sent}} = socket:sendfile(C, F, 0, 0, 100),
    t:w(timeout, Sent > 0 andalso Sent < byte_size(Data)),
    ok = file:close(F),
    t:w(closed_file, socket:sendfile(C, F)),
    t:e(no_file, fun() -> socket:sendfile(C, foo) end),
    ok = socket:close(C),
    t:w(closed, socket:sendfile(C, F, 0, 1)).

sort({ok, Map}) when is_map(Map) -> {ok, sort(Map)};
sort(Map) when is_map(Map) -> [{K, sort(V)} || {K, V} <- lists:sort(maps:to_list(Map))];
sort(Other) -> Other.
