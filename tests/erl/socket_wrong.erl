%% Every function of prim_socket with one wrong argument: the error is stock's, and the socket goes on.
-module(socket_wrong).
-export([main/1]).

main(_) ->
    {ok, {'$socket', S}} = socket:open(inet, dgram, udp),
    ok = prim_socket:bind(S, #{family => inet, addr => loopback}),
    {ok, Here} = prim_socket:sockname(S),
    R = make_ref(),
    Calls = [{open, [1000000, #{}]}, {open, [inet, dgram, udp, #{}]}, {bind, [S, #{family => inet}]}, {connect, [S]}, {connect, [S, R, Here]},
             {listen, [S, 1]}, {accept, [S, R]}, {send, [S, <<"a">>, [], R]}, {sendto, [S, <<"a">>, Here, [], R]}, {sendto, [S, <<"a">>, {Here, Here, 0}, R]},
             {sendmsg, [S, #{}, [], R, [<<"a">>]]}, {sendv, [S, [<<"a">>], R]}, {sendfile, [S, R, 0, 1, R]}, {sendfile, [S, 0, 1, R]},
             {sendfile_deferred_close, [S]}, {recv, [S, 1, [], R]}, {recvfrom, [S, 1, [], R]}, {recvmsg, [S, 1, 1, [], R]},
             {cancel, [S, recv, R]}, {shutdown, [S, read]}, {setopt, [S, {ip, ttl}, 5]}, {setopt_native, [S, {0, 2}, 5]}, {getopt, [S, {ip, ttl}]},
             {getopt_native, [S, {0, 2}, integer]}, {sockname, [S]}, {peername, [S]}, {ioctl, [S, nread]}, {ioctl, [S, gifindex, "lo"]},
             {ioctl, [S, sifmtu, "nonesuch", 5]}, {info, [S]}, {finalize_close, [S]}, {supports, [options]}, {debug, [false]}, {socket_debug, [false]},
             {use_registry, [true]}],
    Wrong = [a, -1, 1 bsl 70, 1.5, <<>>, <<1:3>>, "text", [a | b], #{}, #{family => foo}, #{family => inet, port => a}, {1, 2}, R, self()],
    [row(F, Args, At, Wrong) || {F, Args} <- Calls, At <- lists:seq(1, length(Args)), not leaves(F, At)],
    [row(F, Args, 1, [a, R]) || {F, Args} <- Calls],
    t:flush(),
    {ok, {'$socket', T}} = socket:open(inet, dgram, udp),
    t:w(still, {prim_socket:sendto(T, <<"alive">>, Here, [], make_ref()), prim_socket:close(S), prim_socket:finalize_close(S)}),
    %% The same with a socket that is closed.
    [row(F, Args, length(Args), [lists:last(Args)]) || {F, Args} <- Calls, hd(Args) =:= S].

%% These would change what comes later.
leaves(F, At) -> F =:= debug orelse F =:= socket_debug orelse {F, At} =:= {finalize_close, 1}.

row(F, Args, At, Values) ->
    t:w({F, length(Args), At}, [outcome(F, lists:sublist(Args, At - 1) ++ [V] ++ lists:nthtail(At, Args)) || V <- Values]).

outcome(F, Args) ->
    try apply(prim_socket, F, Args) of
        {ok, Map} when is_map(Map) -> {ok, map};
        Map when is_map(Map) -> map;
        {ok, _} -> ok;
        {select, _} -> select;
        List when is_list(List) -> list;
        Other -> short(Other)
    catch
        Class:Reason -> {Class, short(Reason)}
    after
        [catch prim_socket:cancel(hd(Args), Op, lists:last(Args)) || Op <- [recv, accept, connect, send]]
    end.

%% What was given is not shown again.
short({error, {invalid, What}}) when is_tuple(What) -> {error, {invalid, element(1, What)}};
short({invalid, What}) when is_tuple(What) -> {invalid, element(1, What)};
short({badmap, _}) -> badmap;
short({badkey, _}) -> badkey;
short({Error, Value}) when Error =:= try_clause; Error =:= case_clause; Error =:= badmatch -> {Error, is_tuple(Value)};
short(Other) -> Other.
