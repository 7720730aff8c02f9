%% How long small messages take there and back, one each millisecond, in an idle connection and beside a transfer of large messages.
%%
%% Messages do not wait for earlier ones. A sender that is suspended, because the connection takes no more, pays for all messages that were due
%% meanwhile: they are sent afterwards with the times at which they were due.
-module(nodes_latency).
-export([measure/2, beside_transfer/2]).

-define(LARGE, 100000000).

%% {p50_us, p99_us, p999_us}
measure(Peer, Ms) ->
    P = nodes_peer:start(Peer, stamps),
    Home = self(),
    Collector = spawn_link(fun() -> Home ! {latencies, collect([])} end),
    Sent = send(P, Collector, now_us() + 1000 * Ms, 0),
    Collector ! {all, Sent},
    receive {latencies, Latencies} -> quantiles(lists:sort(Latencies), length(Latencies)) end.

beside_transfer(Peer, Ms) ->
    P = nodes_peer:start(Peer, sink),
    Data = binary:copy(<<"0123456789abcdef">>, ?LARGE div 16),
    Transfers = counters:new(1, []),
    Sender = spawn_link(fun() -> transfer(P, Data, Transfers) end),
    %% The first one is under way.
    receive after 50 -> ok end,
    Begin = now_us(),
    Before = counters:get(Transfers, 1),
    Figures = measure(Peer, Ms),
    Seconds = (now_us() - Begin) / 1000000,
    unlink(Sender),
    exit(Sender, kill),
    Figures#{mb_per_second => (counters:get(Transfers, 1) - Before) * ?LARGE / 1000000 / Seconds}.

transfer(P, Data, Transfers) ->
    P ! {self(), Data},
    receive got -> counters:add(Transfers, 1, 1) end,
    transfer(P, Data, Transfers).

send(P, Collector, Until, Sent) ->
    receive after 1 -> ok end,
    Begin = now_us(),
    P ! {Collector, {Begin}},
    Missed = [P ! {Collector, {At}} || At <- lists:seq(Begin + 1000, now_us(), 1000)],
    case Begin < Until of
        true -> send(P, Collector, Until, Sent + 1 + length(Missed));
        false -> Sent + 1 + length(Missed)
    end.

collect(Latencies) ->
    receive
        {At} when is_integer(At) -> collect([now_us() - At | Latencies]);
        {all, Sent} -> rest(Sent - length(Latencies), Latencies)
    end.

rest(0, Latencies) -> Latencies;
rest(N, Latencies) -> receive {At} -> rest(N - 1, [now_us() - At | Latencies]) end.

quantiles(Sorted, N) ->
    maps:from_list([{Key, lists:nth(max(1, min(N, ceil(N * Part))), Sorted)} || {Key, Part} <- [{p50_us, 0.5}, {p99_us, 0.99}, {p999_us, 0.999}]]).

now_us() -> erlang:monotonic_time(microsecond).
