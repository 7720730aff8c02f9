%% The module socket: every option of the table is read and set again, with right and wrong values.
-module(socket_options).
-export([main/1]).

main(_) ->
    [kind(Domain, Type, Protocol) || {Domain, Type, Protocol} <- [{inet, stream, tcp}, {inet, dgram, udp}, {inet6, stream, tcp}, {inet6, dgram, udp}, {local, dgram, default}]],
    {ok, S} = socket:open(inet, dgram, udp),
    wrong(S),
    native(S),
    otp(S),
    multicast(S),
    ok = socket:close(S),
    t:w(closed, [socket:getopt(S, {socket, type}), socket:setopt(S, {socket, debug}, 0), socket:getopt(S, {otp, meta}), socket:getopt_native(S, {socket, type}, integer)]).

kind(Domain, Type, Protocol) ->
    {ok, S} = socket:open(Domain, Type, Protocol),
    [begin
         Value = socket:getopt(S, Option),
         Again = case Value of
                     {ok, V} -> socket:setopt(S, Option, V);
                     _ -> none
                 end,
         t:w({Domain, Type, Option}, {shown(Option, Value), Again})
     end || {{Level, Name} = Option, true} <- lists:sort(socket:supports(options)), known(Level), not skipped(Name)],
    ok = socket:close(S).

known(Level) -> lists:member(Level, [socket, ip, ipv6, tcp, udp]).

%% These differ between computers, or change what is asked for afterwards.
skipped(Name) -> lists:member(Name, [congestion, addrform, bindtodevice, pktoptions, debug]).

%% Sizes depend on the computer's limits.
shown({_, Name}, {ok, N}) when Name =:= rcvbuf; Name =:= sndbuf; Name =:= mtu; Name =:= maxseg; Name =:= keepidle; Name =:= keepintvl; Name =:= keepcnt -> {ok, is_integer(N)};
shown(_, {ok, Map}) when is_map(Map) -> {ok, lists:sort(maps:to_list(Map))};
shown(_, Value) -> Value.

wrong(S) ->
    [t:e({Option, Value}, fun() -> socket:setopt(S, Option, Value) end) ||
        {Option, Values} <- [{{socket, keepalive}, [1, foo, <<1>>]}, {{socket, rcvbuf}, [foo, 1 bsl 40, -1, 1.0]},
                             {{socket, linger}, [true, #{}, #{onoff => 1, linger => 1}, #{onoff => true, linger => -1}, #{onoff => true, linger => 1}, abort]},
                             {{socket, type}, [1]}, {{socket, error}, [1]}, {{socket, nonesuch}, [1]}, {{nonesuch, type}, [1]},
                             {{ip, tos}, [foo, lowdelay, mincost, 1 bsl 40, 3]}, {{ip, mtu_discover}, [foo, want, do, dont, probe, 100]},
                             {{ip, multicast_if}, [foo, any, {1, 2, 3}, {1, 2, 3, 256}]}, {{ip, msfilter}, [null, foo, #{mode => include, multiaddr => {224, 1, 1, 1}, interface => any, slist => [any]}]},
                             {{ip, ttl}, [0, 255, 256]}, {{socket, bindtodevice}, ["nonesuch", foo, lists:duplicate(100, $a)]},
                             {{socket, peek_off}, [-1]}, {{udp, cork}, [true, false]}, {{tcp, nodelay}, [true]},
                             {{ip, add_membership}, [foo, #{multiaddr => {1, 2, 3, 4}}, #{multiaddr => {1, 2, 3, 4}, interface => any}]}],
        Value <- Values],
    [t:e({get, Option}, fun() -> socket:getopt(S, Option) end) ||
        Option <- [{socket, error}, {socket, nonesuch}, {nonesuch, a}, {ip, add_membership}, {socket, acceptfilter}, foo, {otp, nonesuch}, {1, 2}, {socket, 1 bsl 70}, {ip, pktoptions}]].

native(S) ->
    [t:e({native, Option, Spec}, fun() -> socket:getopt_native(S, Option, Spec) end) ||
        {Option, Spec} <- [{{socket, type}, integer}, {{1, 3}, integer}, {{socket, 3}, boolean}, {{socket, type}, 4}, {{socket, type}, 2}, {{socket, type}, 8}, {{ip, ttl}, <<0:32>>},
                           {{socket, type}, 0}, {{socket, type}, -1}, {{socket, type}, foo}, {{socket, nonesuch}, integer}, {{socket, 10000}, integer}, {{nonesuch, 1}, 4}]],
    [t:e({native_set, Option, Value}, fun() -> socket:setopt_native(S, Option, Value) end) ||
        {Option, Value} <- [{{ip, 2}, 55}, {{0, 2}, <<56:32/native>>}, {{socket, keepalive}, true}, {{socket, keepalive}, foo}, {{socket, keepalive}, <<1>>}, {{ip, ttl}, #{}}]],
    t:w(ttl, socket:getopt(S, {ip, ttl})),
    %% One of the two options leaves the other alone.
    ok = socket:setopt(S, {socket, priority}, 3),
    ok = socket:setopt(S, {ip, tos}, 16),
    t:w(priority, {socket:getopt(S, {socket, priority}), socket:getopt(S, {ip, tos})}),
    ok = socket:setopt(S, {socket, priority}, 5),
    t:w(tos, {socket:getopt(S, {socket, priority}), socket:getopt(S, {ip, tos})}).

otp(S) ->
    [t:e({otp, Name, Value}, fun() -> {socket:setopt(S, {otp, Name}, Value), socket:getopt(S, {otp, Name})} end) ||
        {Name, Value} <- [{debug, false}, {debug, foo}, {iow, true}, {iow, 1}, {rcvbuf, 100}, {rcvbuf, {2, 100}}, {rcvbuf, {0, 100}}, {rcvbuf, 0}, {rcvbuf, default}, {rcvbuf, {3, default}}, {rcvbuf, -1},
                          {rcvbuf, 1 bsl 70}, {rcvbuf, foo}, {rcvctrlbuf, 10}, {rcvctrlbuf, default}, {rcvctrlbuf, 0}, {sndctrlbuf, 10}, {sndctrlbuf, foo}, {meta, {a, [b], #{c => <<"d">>}}}, {domain, inet}]],
    t:e(fd, fun() -> {ok, N} = socket:getopt(S, {otp, fd}), is_integer(N) end),
    t:e(set_fd, fun() -> socket:setopt(S, {otp, fd}, 1) end),
    Self = self(),
    spawn(fun() -> Self ! {meta, socket:setopt(S, {otp, meta}, 1)} end),
    t:w(not_owner, receive {meta, R} -> R end).

multicast(S) ->
    t:w(multicast, [socket:setopt(S, {ip, multicast_if}, {127, 0, 0, 1}), socket:getopt(S, {ip, multicast_if}),
                    socket:setopt(S, {ip, multicast_ttl}, 3), socket:getopt(S, {ip, multicast_ttl}),
                    socket:setopt(S, {ip, add_membership}, #{multiaddr => {224, 0, 0, 251}, interface => {127, 0, 0, 1}}),
                    socket:setopt(S, {ip, drop_membership}, #{multiaddr => {224, 0, 0, 251}, interface => {127, 0, 0, 1}}),
                    socket:setopt(S, {ip, drop_membership}, #{multiaddr => {224, 0, 0, 251}, interface => {127, 0, 0, 1}})]).
