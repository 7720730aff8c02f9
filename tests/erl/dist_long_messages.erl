%% Messages that take long to encode: they arrive whole, in order with short ones, and are traced once.
-module(dist_long_messages).
-export([main/1]).

main(_) ->
    {ok, _} = net_kernel:start([list_to_atom("dist_long" ++ os:getpid()), shortnames]),
    {ok, Peer, Node} = peer:start_link(#{name => peer:random_name(), args => ["-pa", filename:dirname(code:which(?MODULE)), "-connect_all", "false"]}),
    List = lists:seq(1000, 400_000),
    Map = #{I => {I, <<"text">>} || I <- lists:seq(1, 50_000)},
    Large = binary:copy(<<"0123456789abcdef">>, 100_000),
    Deep = lists:foldl(fun(I, Rest) -> {I, Rest} end, [], lists:seq(1, 200_000)),
    Terms = [List, Map, Large, [Large, List, Large], Deep],
    P = spawn_link(Node, fun Echo() -> receive {From, Term} -> From ! {self(), Term}, Echo() end end),
    io:format("there and back ~p~n", [[begin P ! {self(), Term}, receive {P, Back} -> Back =:= Term end end || Term <- Terms]]),
    io:format("order ~p~n", [order(P, List)]),
    io:format("alias ~p~n", [alias(Node, List)]),
    io:format("no suspend ~p~n", [erlang:send(P, {self(), List}, [nosuspend])]),
    receive {P, List} -> ok end,
    %% Stock does not tell of a long message whose sender has to yield.
    io:format("traced ~p~n", [traced(P, List) -- [long]]),
    io:format("token ~p~n", [token(P, List)]),
    peer:stop(Peer).

order(P, Long) ->
    Sent = lists:append([[{N, long}, {N, short}] || N <- lists:seq(1, 10)]),
    [case Kind of
         long -> P ! {self(), {N, long, Long}};
         short -> P ! {self(), {N, short}}
     end || {N, Kind} <- Sent],
    Sent =:= [receive {P, Term} -> {element(1, Term), element(2, Term)} end || _ <- Sent].

alias(Node, Long) ->
    Alias = alias([reply]),
    spawn(Node, fun() -> Alias ! {Alias, length(Long), Long} end),
    receive {Alias, Length, List} -> {Length, List =:= Long} end.

traced(P, Long) ->
    Me = self(),
    Tracer = spawn_link(fun() -> collect(Me, []) end),
    1 = erlang:trace(self(), true, [send, {tracer, Tracer}]),
    P ! {self(), Long},
    P ! {self(), short},
    1 = erlang:trace(self(), false, [send]),
    [receive {P, _} -> ok end || _ <- [1, 2]],
    Ref = erlang:trace_delivered(self()),
    receive {trace_delivered, Me, Ref} -> ok end,
    Tracer ! done,
    receive {events, Events} -> [case Message of {Me, Long} -> long; {Me, short} -> short end || {trace, _, send, Message, _} <- Events] end.

collect(To, Events) ->
    receive
        done -> To ! {events, lists:reverse(Events)};
        Event -> collect(To, [Event | Events])
    end.

%% The serial numbers of a trace token count each message once.
token(P, Long) ->
    seq_trace:set_token(label, 17),
    P ! {self(), Long},
    receive {P, _} -> ok end,
    {serial, Serial} = seq_trace:get_token(serial),
    seq_trace:set_token([]),
    Serial.
