%% A halt with flush brings out what was sent to other nodes, also what waits for a connection whose peer takes nothing for a while. (Stock loses it.)
-module(heddle_dist_halt_flush).
-export([main/1, flood/1, sink/1]).

-define(BYTES, 10_000).

main(_) ->
    {ok, _} = net_kernel:start([list_to_atom("heddle_dist_halt_flush" ++ os:getpid()), shortnames]),
    {Sender, _} = node_with([]),
    {Receiver, To} = node_with([]),
    pong = peer:call(Sender, net_adm, ping, [To]),
    Sink = peer:call(Receiver, erlang, spawn, [?MODULE, sink, [0]]),
    Os = peer:call(Receiver, os, getpid, []),
    t:stop_os(Os),
    Floods = peer:call(Sender, erlang, spawn, [?MODULE, flood, [Sink]]),
    t:w(flood, t:wait_until(fun() -> peer:call(Sender, erlang, process_info, [Floods, status]) =:= {status, suspended} end)),
    [{sent, Before}] = peer:call(Sender, ets, lookup, [heddle_dist_halt_flush, sent]),
    peer:cast(Sender, erlang, halt, [0, [{flush, true}]]),
    timer:sleep(500),
    os:cmd("kill -CONT " ++ Os),
    t:w(gone, t:wait_until(fun() -> not lists:member(Sender, [P || P <- processes(), is_process_alive(P)]) end)),
    t:w(all_came, t:wait_until(fun() -> count(Receiver, Sink) >= Before end)),
    peer:stop(Receiver).

node_with(Args) ->
    {Erl, First} = t:emulator(),
    {ok, Peer, Node} = peer:start(#{name => peer:random_name(), connection => standard_io, exec => {Erl, First},
        args => ["-pa", filename:dirname(code:which(?MODULE)), "-connect_all", "false", "-setcookie", atom_to_list(erlang:get_cookie()),
                 "-kernel", "inet_dist_listen_options", "[{recbuf,65536},{sndbuf,65536}]", "inet_dist_connect_options", "[{recbuf,65536},{sndbuf,65536}]" | Args]}),
    {Peer, Node}.

%% Sends numbered messages, until it waits for good.
flood(Sink) ->
    ets:new(heddle_dist_halt_flush, [named_table]),
    flood(Sink, binary:copy(<<0>>, ?BYTES), 1).

flood(Sink, Data, N) ->
    Sink ! {N, Data},
    ets:insert(heddle_dist_halt_flush, {sent, N}),
    flood(Sink, Data, N + 1).

%% The number of the last message; all before it came in order.
sink(Count) ->
    receive
        {get, From} -> From ! {self(), Count}, sink(Count);
        {N, <<_:?BYTES/binary>>} when N =:= Count + 1 -> sink(N)
    end.

count(Peer, Sink) ->
    Self = self(),
    Asks = peer:call(Peer, erlang, spawn, [fun() -> Sink ! {get, self()}, receive {Sink, Count} -> Self ! {self(), Count} end end]),
    receive {Asks, Count} -> Count after 10000 -> none end.
