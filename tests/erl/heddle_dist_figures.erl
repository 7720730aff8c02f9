%% heddle_stats:nodes/0: what one node says that it sent is what the other says that it received; the keys are those of the documentation.
-module(heddle_dist_figures).
-export([main/1]).

main(_) ->
    io:format("alone ~p~n", [heddle_stats:nodes()]),
    {ok, _} = net_kernel:start([list_to_atom("figures" ++ os:getpid()), shortnames]),
    {ok, Peer, Node} = peer:start_link(#{name => peer:random_name(), args => ["-pa", filename:dirname(code:which(?MODULE)), "-connect_all", "false"]}),
    [#{node := Node, state := up, type := visible, carrier := Carrier} = First] = heddle_stats:nodes(),
    io:format("carrier ~p~n", [is_port(Carrier)]),
    io:format("keys ~p~n", [lists:sort(maps:keys(First)) =:= documented()]),
    Me = self(),
    Counter = spawn_link(Node, fun() -> count(Me, 0) end),
    pong = net_adm:ping(Node),
    {Sent0, Received0} = both(Node),
    [Counter ! {number, N} || N <- lists:seq(1, 1000)],
    Large = binary:copy(<<"0123456789abcdef">>, 100_000),
    [Counter ! {large, Large} || _ <- lists:seq(1, 20)],
    Counter ! stop,
    receive {counted, 1020} -> ok end,
    {Sent, Received} = both(Node),
    io:format("messages ~p~n", [more(sent_messages, Sent0, Sent) >= 1021]),
    io:format("bytes ~p~n", [more(sent_bytes, Sent0, Sent) >= 20 * byte_size(Large)]),
    io:format("packets ~p~n", [more(sent_packets, Sent0, Sent) >= more(sent_messages, Sent0, Sent) + 20 * 24]),
    %% Each side asks the other at another time: a few signals lie between.
    io:format("the same ~p~n", [abs(more(sent_messages, Sent0, Sent) - more(received_messages, Received0, Received)) < 20]),
    io:format("times ~p~n", [{more(encode_ns, Sent0, Sent) > 0, more(decode_ns, Received0, Received) > 0}]),
    io:format("queued ~p~n", [{maps:get(queued_bytes, Sent), maps:get(large_bytes, Sent)}]),
    peer:stop(Peer),
    until(fun() -> heddle_stats:nodes() =:= [] end),
    io:format("alone again~n").

count(Me, N) ->
    receive
        stop -> Me ! {counted, N};
        _ -> count(Me, N + 1)
    end.

%% What this node says, and then what the other says of the connection.
both(Node) ->
    [Here] = heddle_stats:nodes(),
    [There] = erpc:call(Node, heddle_stats, nodes, []),
    {Here, There}.

more(Key, Before, After) -> maps:get(Key, After) - maps:get(Key, Before).

until(F) ->
    case F() of
        true -> ok;
        false -> receive after 10 -> until(F) end
    end.

documented() ->
    File = filename:join([filename:dirname(code:which(?MODULE)), "..", "..", "lib", "heddle", "src", "heddle_stats.erl"]),
    {ok, Forms} = epp:parse_file(File, []),
    [Fields] = [Fields || {attribute, _, type, {connection, {type, _, map, Fields}, []}} <- Forms],
    lists:sort([Key || {type, _, map_field_exact, [{atom, _, Key}, _]} <- Fields]).
