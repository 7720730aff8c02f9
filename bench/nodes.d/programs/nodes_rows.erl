%% The rows of bench/nodes: what is done for each, as figures {per_second, ...}. Names are those of node_rows.py.
-module(nodes_rows).
-export([run/3]).

-import(nodes_bench, [rate/2, rate/3]).

-define(MB, 1000000).

%% ---- messages between pairs of processes ----

run(ping_64, Peer, Ms) ->
    P = nodes_peer:start(Peer, echo),
    Data = binary:copy(<<"x">>, 64),
    rate(Ms, fun() -> P ! {self(), Data}, receive {P, _} -> ok end end);
run(oneway_1, Peer, Ms) -> one_way(Peer, 1, Ms);
run(oneway_100, Peer, Ms) -> one_way(Peer, 100, Ms);
run(oneway_10000, Peer, Ms) -> one_way(Peer, 10000, Ms);

%% ---- requests ----

run(spawn_1, Peer, Ms) -> rate(Ms, fun() -> R = spawn_request(Peer, erlang, self, []), receive {spawn_reply, R, ok, _} -> ok end end);
run(spawn_100, Peer, Ms) ->
    rate(Ms, 100, fun() ->
        Rs = [spawn_request(Peer, erlang, self, []) || _ <- lists:seq(1, 100)],
        [receive {spawn_reply, R, ok, _} -> ok end || R <- Rs]
    end);
run(spawn_monitor, Peer, Ms) ->
    rate(Ms, fun() -> {P, M} = spawn_monitor(Peer, erlang, self, []), receive {'DOWN', M, process, P, normal} -> ok end end);
run(call_1, Peer, Ms) -> rate(Ms, fun() -> x = gen_server:call({nodes_server, Peer}, x) end);
run(call_100, Peer, Ms) -> side_by_side(100, Ms, fun() -> x = gen_server:call({nodes_server, Peer}, x, infinity) end);
run(erpc_1, Peer, Ms) -> rate(Ms, fun() -> Peer = erpc:call(Peer, erlang, node, []) end);

%% ---- names ----

run(global_register, _, Ms) ->
    rate(Ms, fun() -> yes = global:register_name(nodes_bench, self()), global:unregister_name(nodes_bench) end);
run(global_whereis, Peer, Ms) ->
    P = nodes_peer:start(Peer, echo),
    yes = global:register_name(nodes_bench, P),
    Figures = rate(Ms, 1000, fun() -> [P = global:whereis_name(nodes_bench) || _ <- lists:seq(1, 1000)] end),
    global:unregister_name(nodes_bench),
    Figures;
run(pg_join_leave, Peer, Ms) ->
    rate(Ms, 100, fun() ->
        [begin ok = pg:join(nodes, group, self()), ok = pg:leave(nodes, group, self()) end || _ <- lists:seq(1, 99)],
        %% The other node has seen all when it has seen the last.
        ok = pg:join(nodes, last, self()),
        until(fun() -> erpc:call(Peer, pg, get_members, [nodes, last]) =/= [] end),
        ok = pg:leave(nodes, last, self()),
        until(fun() -> erpc:call(Peer, pg, get_members, [nodes, last]) =:= [] end)
    end);
run(pg_get_members, Peer, Ms) ->
    Ps = [self() | nodes_peer:counters(Peer, 10)],
    ok = erpc:call(Peer, pg, join, [nodes, members, tl(Ps)]),
    ok = pg:join(nodes, members, self()),
    until(fun() -> length(pg:get_members(nodes, members)) =:= 11 end),
    rate(Ms, 1000, fun() -> [[_ | _] = pg:get_members(nodes, members) || _ <- lists:seq(1, 1000)] end);

%% ---- latency ----

run(latency_quiet, Peer, Ms) -> nodes_latency:measure(Peer, Ms);
run(latency_beside_100mb, Peer, Ms) -> nodes_latency:beside_transfer(Peer, Ms);

%% ---- large messages: KIND_SIZE ----

run(Name, Peer, Ms) ->
    [Kind, Size] = string:lexemes(atom_to_list(Name), "_"),
    sized(list_to_existing_atom(Kind), size_of(Size), Peer, Ms).

size_of("1k") -> 1000;
size_of("64k") -> 64000;
size_of("1m") -> ?MB;
size_of("100m") -> 100 * ?MB.

until(Is) -> Is() orelse until(Is).

%% Senders and as many receivers. The time ends when the last message of the last pair has been acknowledged.
one_way(Peer, N, Ms) ->
    Stop = atomics:new(1, []),
    Home = self(),
    Senders = [spawn_link(fun() -> receive go -> Home ! {sent, self(), send(P, Stop, 0)} end end) || P <- nodes_peer:counters(Peer, N)],
    Begin = erlang:monotonic_time(microsecond),
    [S ! go || S <- Senders],
    receive after Ms -> atomics:put(Stop, 1, 1) end,
    Sent = lists:sum([receive {sent, S, Count} -> Count end || S <- Senders]),
    #{per_second => Sent * 1000000 / (erlang:monotonic_time(microsecond) - Begin)}.

send(P, Stop, N) ->
    P ! {message, N},
    case atomics:get(Stop, 1) of
        0 -> send(P, Stop, N + 1);
        1 -> P ! {last, self(), N + 1}, receive {got, Count} -> Count end
    end.

%% Processes that do the same, each as soon as it has done it before.
side_by_side(N, Ms, Fun) ->
    Stop = atomics:new(1, []),
    Home = self(),
    Begin = erlang:monotonic_time(microsecond),
    Ps = [spawn_link(fun() -> Home ! {done, self(), often(Fun, Stop, 0)} end) || _ <- lists:seq(1, N)],
    receive after Ms -> atomics:put(Stop, 1, 1) end,
    Done = lists:sum([receive {done, P, Count} -> Count end || P <- Ps]),
    #{per_second => Done * 1000000 / (erlang:monotonic_time(microsecond) - Begin)}.

often(Fun, Stop, N) ->
    Fun(),
    case atomics:get(Stop, 1) of 0 -> often(Fun, Stop, N + 1); 1 -> N + 1 end.

%% Messages of a size, some of them under way at a time. Sizes are those in the memory of an emulator with words of 8 bytes.
sized(Kind, Bytes, Peer, Ms) ->
    Term = nodes_terms:make(Kind, Bytes),
    P = nodes_peer:start(Peer, sink),
    Window = max(1, min(32, 4 * ?MB div Bytes)),
    #{per_second := PerSecond} = rate(Ms, Window, fun() -> [P ! {self(), Term} || _ <- lists:seq(1, Window)], [receive got -> ok end || _ <- lists:seq(1, Window)] end),
    #{per_second => PerSecond, mb_per_second => PerSecond * Bytes / ?MB}.
