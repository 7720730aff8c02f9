%% What the rounds share. A round is a process that works with one other node, its peer, and knows what must come of it.
%%
%% As long as the connection that was there at the beginning is there, all must be exact: nothing is lost, and each reason is the right one. When it
%% goes, the round stops its work, and only what the emulator itself owes is still expected: each monitor one DOWN, each link one EXIT, each
%% spawn_request one answer. What is open of these is in the process dictionary. In the end no other message may be left.
-module(cluster_round).
-export([run/4, peer/0, name/0, connection/1, is_steady/0, patience/0]).
-export([open/1, close/1, await/1, arrived/1, right/3, excuse/3, worker/0, worker/1, known/1, child/0, ask/2, tell/2, end_of/1]).
-export([watch/1, watch/2, unwatch/1, down/3, down/4, tie/1, untie/1, gone/2, may_come/1, fence/0]).
-import(cluster_chance, [some/1, pick/1]).

%% Between two looks whether the connection is still there, in ms.
-define(LOOK, 200).
%% What the end of a connection explains as the reason of a DOWN or EXIT.
-define(IS_EXCUSE(Reason), (Reason =:= noconnection orelse Reason =:= noproc orelse Reason =:= killed
                            orelse (is_tuple(Reason) andalso tuple_size(Reason) > 0 andalso element(1, Reason) =:= cluster_worker))).

%% The life of the process of a round. Name: an atom that no other round uses at the same time.
run(Fun, Peer, Name, Seed) ->
    rand:seed(exsss, Seed),
    process_flag(trap_exit, true),
    put(peer, Peer),
    put(name, Name),
    put(open, #{}),
    put(workers, []),
    put(may_come, []),
    case connect(Peer) of
        none -> cluster_book:count(rounds_without_connection);
        Connection ->
            put(connection, Connection),
            try Fun(), finish() of
                _ -> cluster_book:count(rounds_steady)
            catch
                throw:lost -> lost(), cluster_book:count(rounds_lost);
                throw:broken -> lost()
            end
    end.

peer() -> get(peer).

name() -> get(name).

patience() -> persistent_term:get(cluster_patience).

now_ms() -> erlang:monotonic_time(millisecond).

%% ---- connections ----

%% The number of the connection to a node, or none.
connection(Node) ->
    case lists:keyfind(Node, 1, nodes(connected, #{connection_id => true})) of
        {_, #{connection_id := Connection}} -> Connection;
        false -> none
    end.

is_steady() -> connection(peer()) =:= get(connection).

%% True if the connection is gone, or goes within two seconds: what tells of its end may come a little before nodes/2 shows it.
is_lost() -> is_lost(20).

is_lost(0) -> not is_steady();
is_lost(N) -> not is_steady() orelse begin receive after 100 -> ok end, is_lost(N - 1) end.

%% The number of the connection to a node on which all is ready.
connect(Peer) ->
    _ = connection(Peer) =/= none orelse net_kernel:connect_node(Peer),
    Connection = connection(Peer),
    Ref = make_ref(),
    Connection =/= none andalso ({cluster_echo, Peer} ! {ask, self(), Ref, echo}),
    receive {Ref, echo} -> case connection(Peer) of Connection -> Connection; _ -> none end
    after 500 -> none
    end.

%% ---- what is awaited ----

%% Keys: {down, Monitor}, {exit, Pid}, {spawn, Request}, {answer, Ref}. The first three are owed by this node's emulator, whatever the connection does.
open(Key) -> put(open, (get(open))#{Key => true}), Key.

close(Key) -> put(open, maps:remove(Key, get(open))), Key.

%% What came for the key. Throws `lost` when the connection goes first.
await(Key) -> await(Key, now_ms() + patience()).

await(Key, Until) ->
    case look(Key, ?LOOK) of
        {ok, Value} -> close(Key), Value;
        none ->
            Late = now_ms() > Until,
            case is_steady() of
                false -> throw(lost);
                true when Late -> close(Key), cluster_book:broken(rule(Key), {patience(), ms, Key}, nothing(Key)), throw(broken);
                true -> await(Key, Until)
            end
    end.

%% What is known where nothing came: of a process whose end is awaited, what it does.
nothing({down, _}) ->
    case get(awaited_end) of
        P when is_pid(P) ->
            Items = [status, current_stacktrace, message_queue_len, messages, links, monitors, monitored_by, priority],
            Of = try erpc:call(node(P), erlang, process_info, [P, Items], 5000) catch Class:Why -> {Class, Why} end,
            {nothing, P, Of, process_info(self(), [messages, monitors])};
        _ -> {nothing, process_info(self(), [messages, monitors])}
    end;
nothing(_) -> nothing.

%% What is there for the key already, or nothing.
arrived(Key) ->
    close(Key),
    case look(Key, 0) of {ok, Value} -> Value; none -> nothing end.

rule({Kind, _}) -> case Kind of down -> down_missing; exit -> exit_missing; spawn -> spawn_reply; answer -> lost end.

look({down, M}, Ms) -> receive {Tag, M, Kind, Object, Reason} -> {ok, {Tag, Kind, Object, Reason}} after Ms -> none end;
look({exit, P}, Ms) -> receive {'EXIT', P, Reason} -> {ok, Reason} after Ms -> none end;
look({spawn, R}, Ms) -> receive {Tag, R, Ok, What} -> {ok, {Tag, Ok, What}} after Ms -> none end;
look({answer, R}, Ms) -> receive {R, Value} -> {ok, Value} after Ms -> none end.

%% Found must be what was expected. What differs may still be explained by the end of the connection.
right(_, Expected, Expected) -> ok;
right(Rule, Expected, Found) -> is_lost() andalso throw(lost), cluster_book:broken(Rule, Expected, Found), throw(broken).

%% As right/3, for reasons: those that an end of the connection does not make are wrong in any case.
excuse(_, Reason, Reason) -> ok;
excuse(Rule, Expected, Reason) when ?IS_EXCUSE(Reason) -> right(Rule, Expected, Reason);
excuse(Rule, Expected, Reason) -> cluster_book:broken(Rule, Expected, Reason), throw(broken).

%% ---- workers ----

%% A process on the peer (cluster_worker), which ends with this one.
worker() -> worker([]).

worker(Options) ->
    case pick([request, request, spawn]) of
        spawn when Options =:= [] -> known(spawn(peer(), cluster_worker, init, [self()]));
        _ ->
            {_, Ok, P} = await(open({spawn, spawn_request(peer(), cluster_worker, init, [self()], Options)})),
            right(spawn_reply, ok, Ok),
            known(P)
    end.

%% A process that ends if the round does not come to its end.
known(P) -> put(workers, [P | get(workers)]), P.

%% A worker on this node.
child() -> known(spawn(cluster_worker, init, [self()])).

ask(Worker, What) ->
    Ref = make_ref(),
    Worker ! {ask, self(), Ref, What},
    await({answer, Ref}).

tell(Worker, What) -> Worker ! {tell, What}.

%% Ends a worker that does not trap exits in one of many ways; the reason that all must see.
end_of(Worker) ->
    Reason = cluster_term:reason(some(1 bsl 40)),
    case some(6) of
        1 -> exit(Worker, kill), killed;
        2 -> exit(Worker, Reason), Reason;
        3 -> tell(Worker, {exit, normal}), normal;
        _ -> tell(Worker, {exit, Reason}), Reason
    end.

%% ---- monitors and links ----

watch(Of) -> watch(Of, []).

watch(Of, Options) ->
    M = monitor(process, Of, Options),
    open({down, M}),
    M.

unwatch(M) ->
    case some(3) of
        1 -> demonitor(M, [flush]);
        2 -> demonitor(M, [flush, info]);
        3 -> demonitor(M), receive {_, M, _, _, _} -> ok after 0 -> ok end
    end,
    close({down, M}),
    cluster_book:count(demonitors).

%% The one DOWN of a monitor.
down(M, Object, Reason) -> down(M, 'DOWN', Object, Reason).

down(M, Tag, Object, Reason) ->
    cluster_sabotage:is_due(no_down) andalso demonitor(M, [flush]),
    put(awaited_end, Object),
    {FoundTag, process, Found, Got} = await({down, M}),
    cluster_book:count(downs),
    excuse(down_reason, Reason, Got),
    right(down_reason, {Tag, Object}, {FoundTag, Found}),
    cluster_sabotage:is_due(down_twice) andalso (self() ! {'DOWN', M, process, Object, Reason}).

tie(P) -> link(P), open({exit, P}).

untie(P) ->
    unlink(P),
    receive {'EXIT', P, _} -> ok after 0 -> ok end,
    close({exit, P}),
    cluster_book:count(unlinks),
    cluster_sabotage:is_due(exit_after_unlink) andalso (self() ! {'EXIT', P, late}).

%% What is not owed but right if it comes when the connection is gone. {exit, any}: of a process whose pid is not known. Where a link is made from
%% the other side too, or twice, the end of a connection between the two can make one EXIT more.
may_come(Key) -> put(may_come, [Key | get(may_come)]).

%% The one EXIT of a link.
gone(P, Reason) ->
    Got = await({exit, P}),
    cluster_book:count(exits),
    excuse(exit_reason, Reason, Got).

%% ---- the end ----

%% An answer of another process of the peer.
fence() ->
    Ref = make_ref(),
    {cluster_echo, peer()} ! {ask, self(), Ref, echo},
    await({answer, Ref}).

finish() ->
    fence(),
    [cluster_book:broken(open, closed, Key) || Key <- maps:keys(get(open))],
    receive Message -> is_steady() orelse throw(lost), cluster_book:broken(rule_of(Message), no_message, Message)
    after 0 -> ok
    end.

keys({'EXIT', P, _}) -> [{exit, P}, {exit, any}];
keys({_, R, _, _}) -> [{spawn, R}];
keys({_, M, _, _, _}) -> [{down, M}];
keys(_) -> [].

rule_of({'EXIT', _, _}) -> exit_twice;
rule_of({_, R, Ok, _}) when is_reference(R), (Ok =:= ok orelse Ok =:= error) -> spawn_reply;
rule_of({_, M, process, _, _}) when is_reference(M) -> down_twice;
rule_of(_) -> unexpected.

%% The connection is gone. What the emulator owes must come, and nothing of it twice.
lost() ->
    [exit(P, kill) || P <- get(workers)],
    %% The answers to requests first: they tell what else is owed.
    {Requests, Others} = lists:partition(fun(Key) -> element(1, Key) =:= spawn end, maps:keys(get(open))),
    owed(Requests ++ Others),
    receive after 50 -> ok end,
    flush().

owed([]) -> ok;
owed([{answer, _} | Others]) -> owed(Others);
owed([Key | Others]) ->
    case look(Key, patience()) of
        {ok, {_, ok, P}} when element(1, Key) =:= spawn -> exit(P, kill), owed(Others);
        %% No process, so no DOWN: spawn_request with `monitor`.
        {ok, {_, error, _}} when element(1, Key) =:= spawn -> owed(Others -- [{down, element(2, Key)}]);
        {ok, _} -> cluster_book:count(owed), owed(Others);
        none -> cluster_book:broken(rule(Key), {patience(), ms, Key}, {nothing_after_the_connection, process_info(self(), [messages, monitors])}), owed(Others)
    end.

%% Messages of workers may still come; those of the emulator all have come.
flush() ->
    receive
        {R, _} when is_reference(R) -> flush();
        {io_request, _, _, _} -> flush();
        Message ->
            lists:any(fun(Key) -> lists:member(Key, get(may_come)) end, keys(Message)) orelse cluster_book:broken(rule_of(Message), no_message, Message),
            flush()
    after 0 -> ok
    end.
