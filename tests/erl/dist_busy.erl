%% Processes that send to a node that takes nothing: which of them wait, what tells of it, and that nothing is lost or out of order.
-module(dist_busy).
-export([main/1, start_sink/0, sink/1, flood/3, watch/1]).

%% Together more than what the operating system keeps of a connection on its way. Its buffers have a size of ours: where it chooses, it may keep
%% 32 MB and more.
-define(MESSAGES, 200).
-define(BYTES, 100_000).

main(_) ->
    {ok, _} = net_kernel:start([list_to_atom("dist_busy" ++ os:getpid()), shortnames]),
    {Sender, _} = node_with(["+zdbbl", "4"]),
    {Receiver, To} = node_with([]),
    t:w(limit, peer:call(Sender, erlang, system_info, [dist_buf_busy_limit])),
    pong = peer:call(Sender, net_adm, ping, [To]),
    Sink = peer:call(Receiver, ?MODULE, start_sink, []),
    Watcher = peer:call(Sender, erlang, spawn, [?MODULE, watch, [self()]]),
    ready = receive {Watcher, Ready} -> Ready end,
    Os = peer:call(Receiver, os, getpid, []),
    t:stop_os(Os),
    Waiting = start(Sender, Sink, waits),
    t:w(event, receive {Watcher, {Pid, Port}} -> {Pid =:= Waiting, is_port(Port)} after 20000 -> none end),
    t:w(status, status(Sender, Waiting, 600)),
    stuck(Sender, Sink, 20),
    t:w(nosuspend, peer:call(Sender, erlang, send, [Sink, {no, 1, <<>>}, [nosuspend]])),
    t:w(nosuspend_noconnect, peer:call(Sender, erlang, send, [Sink, {no, 2, <<>>}, [noconnect, nosuspend]])),
    t:w(send_nosuspend, peer:call(Sender, erlang, send_nosuspend, [Sink, {no, 3, <<>>}])),
    %% One that asked not to wait sends all and ends.
    Async = start(Sender, Sink, async),
    t:w(async, ended(Sender, Async, 600)),
    t:w(still, peer:call(Sender, erlang, process_info, [Waiting, status])),
    %% A process that waits can be ended.
    Killed = start(Sender, Sink, killed),
    t:w(killed, {status(Sender, Killed, 600), peer:call(Sender, erlang, exit, [Killed, kill]), ended(Sender, Killed, 200)}),
    os:cmd("kill -CONT " ++ Os),
    t:w(waited, ended(Sender, Waiting, 1000)),
    t:w(sink, wait_for(Receiver, Sink, 1000)),
    [peer:stop(Peer) || Peer <- [Sender, Receiver]].

node_with(Args) ->
    {ok, Peer, Node} = peer:start_link(#{name => peer:random_name(), connection => standard_io,
        args => ["-pa", filename:dirname(code:which(?MODULE)), "-connect_all", "false",
                 "-kernel", "inet_dist_listen_options", "[{recbuf,65536},{sndbuf,65536}]", "inet_dist_connect_options", "[{recbuf,65536},{sndbuf,65536}]" | Args]}),
    {Peer, Node}.

start(Peer, Sink, How) ->
    peer:call(Peer, erlang, spawn, [?MODULE, flood, [Sink, How, ?MESSAGES]]).

flood(Sink, How, Messages) ->
    process_flag(async_dist, How =:= async),
    Data = binary:copy(<<0>>, ?BYTES),
    [Sink ! {How, N, Data} || N <- lists:seq(1, Messages)],
    ok.

%% Tells of the first process that waits.
watch(To) ->
    erlang:system_monitor(self(), [busy_dist_port]),
    To ! {self(), ready},
    receive
        {monitor, Pid, busy_dist_port, Port} -> To ! {self(), {Pid, Port}}
    end.

%% Returns when the kernel takes nothing more: a sender that waited went on while it did.
stuck(_, _, 0) -> ok;
stuck(Peer, Sink, Times) ->
    timer:sleep(20),
    case peer:call(Peer, erlang, send, [Sink, {no, 0, <<>>}, [nosuspend]]) of
        nosuspend -> stuck(Peer, Sink, Times - 1);
        ok -> stuck(Peer, Sink, 20)
    end.

status(_, _, 0) -> never;
status(Peer, Pid, Tries) ->
    case peer:call(Peer, erlang, process_info, [Pid, status]) of
        {status, suspended} -> suspended;
        _ -> timer:sleep(50), status(Peer, Pid, Tries - 1)
    end.

ended(_, _, 0) -> never;
ended(Peer, Pid, Tries) ->
    case peer:call(Peer, erlang, process_info, [Pid, status]) of
        undefined -> ended;
        _ -> timer:sleep(50), ended(Peer, Pid, Tries - 1)
    end.

start_sink() ->
    spawn(?MODULE, sink, [#{}]).

%% Counts the messages of each sender, which must come in order.
sink(Counts) ->
    receive
        {get, From} -> From ! {self(), Counts}, sink(Counts);
        {no, _, _} -> sink(Counts);
        {How, N, Data} ->
            Expected = maps:get(How, Counts, 0) + 1,
            true = N =:= Expected andalso byte_size(Data) =:= ?BYTES,
            sink(Counts#{How => N})
    end.

wait_for(Peer, Sink, Tries) ->
    Counts = asked(Peer, Sink),
    case Counts of
        #{waits := ?MESSAGES, async := ?MESSAGES} -> maps:with([waits, async], Counts);
        _ when Tries =:= 0 -> Counts;
        _ -> timer:sleep(50), wait_for(Peer, Sink, Tries - 1)
    end.

asked(Peer, Sink) ->
    Self = self(),
    Asks = peer:call(Peer, erlang, spawn, [fun() -> Sink ! {get, self()}, receive {Sink, Counts} -> Self ! {self(), Counts} end end]),
    receive {Asks, Counts} -> Counts after 10000 -> none end.
