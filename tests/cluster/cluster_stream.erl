%% Streams: numbered messages of all kinds from one process to one on another node, by pid, name and alias, and as exit signals.
%%
%% The receiver knows what each must be: the next number, and the term that follows from its number. While a connection lives nothing is lost. When
%% it goes, `nodedown` comes after all that arrived through it and before all that arrives through the next one (net_kernel:monitor_nodes/1), so a
%% gap is right only right after it. Each message is acknowledged, and acknowledgements are counted in the same way.
-module(cluster_stream).
-export([names/0, receiver/1, sender/4]).
-import(cluster_chance, [some/1, once_in/1, weighted/1]).

%% Messages that a sender has under way.
-define(WINDOW, 30).
-define(LOOK, 200).

names() -> [cluster_stream_1, cluster_stream_2].

%% ---- the receiver ----

receiver(Name) ->
    register(Name, self()),
    process_flag(trap_exit, true),
    ok = net_kernel:monitor_nodes(true, #{connection_id => true}),
    cluster_book:place({receiver, Name}),
    receive_all(#{alias => alias(), senders => #{}}).

%% Senders: #{Pid => {Last number, whole | broken, how many acknowledgements}}; broken if the connection went since the last number.
receive_all(#{alias := Alias, senders := Senders} = State) ->
    receive
        {item, S, Item} -> receive_all(State#{senders := item(S, Item, Alias, Senders)});
        {'EXIT', S, {cluster_item, S, Item}} -> receive_all(State#{senders := item(S, Item, Alias, Senders)});
        {hello, S, Ref, Next} ->
            S ! {here, Ref, self(), Alias},
            receive_all(State#{senders := maps:merge(#{S => {Next - 1, whole, 0}}, Senders)});
        {last, S, Ref} ->
            {Last, _, _} = maps:get(S, Senders, {none, whole, 0}),
            S ! {done, Ref, Last},
            receive_all(State);
        {bye, S} -> receive_all(State#{senders := maps:remove(S, Senders)});
        {nodedown, Node, #{connection_id := Connection}} ->
            cluster_book:note({nodedown, Node, Connection}),
            receive_all(State#{senders := #{S => case node(S) of Node -> {Last, broken, Acks}; _ -> Kept end || S := {Last, _, Acks} = Kept <- Senders}});
        {nodeup, Node, #{connection_id := Connection}} -> cluster_book:note({nodeup, Node, Connection}), receive_all(State);
        {stale, _, _} = Message -> cluster_old:came(Message), receive_all(State);
        Message -> cluster_book:broken(unexpected, stream_message, Message), receive_all(State)
    end.

item(S, {Number, To, Key, Hash, Term}, Alias, Senders) ->
    lists:member(To, [self(), Alias, name]) orelse cluster_book:broken(creation, [self(), Alias], To),
    same(Key, Hash, Term) orelse cluster_book:broken(altered, {S, Number, cluster_term, Key, Hash}, Term),
    cluster_book:count(stream_messages),
    cluster_book:note({item, S, Number}),
    {Last, Whole, Acks} = maps:get(S, Senders, {Number - 1, broken, 0}),
    follows(S, Last, Number, Whole),
    S ! {ack, self(), Acks + 1, Number},
    Senders#{S => {max(Last, Number), whole, Acks + 1}}.

%% A term that exists once is known by its hash.
same(unique, Hash, Term) -> erlang:phash2(Term) =:= Hash;
same(Key, Hash, Term) -> cluster_term:make(Key) =:= Term andalso erlang:phash2(Term) =:= Hash.

follows(_, Last, Number, _) when Number =:= Last + 1 -> ok;
follows(S, Last, Number, _) when Number =< Last -> cluster_book:broken(case Number of Last -> twice; _ -> order end, {S, number, Last + 1}, {number, Number});
follows(S, Last, Number, whole) -> cluster_book:broken(lost, {S, number, Last + 1}, {number, Number});
follows(_, Last, Number, broken) -> cluster_book:count(lost_with_connections, Number - Last - 1).

%% ---- the sender ----

%% Sends until it is told to stop; then it makes sure that all has arrived.
sender(Peer, Name, Place, Seed) ->
    rand:seed(exsss, Seed),
    process_flag(trap_exit, true),
    once_in(3) andalso process_flag(async_dist, true),
    cluster_book:place(Place),
    ok = net_kernel:monitor_nodes(true, #{connection_id => true}),
    %% Number: of the last message; acks: of the receiver, how many acknowledgements; settled: acknowledged or lost up to there; is_whole: no
    %% connection went since the last acknowledgement; sent_whole: nor since the last message.
    greet(#{peer => Peer, name => Name, number => 0, acks => {none, 0}, settled => 0, is_whole => true, sent_whole => true, stopped => false, large => false, since => now_ms()}).

now_ms() -> erlang:monotonic_time(millisecond).

greet(#{peer := Peer, name := Name, number := Number} = State) ->
    Ref = make_ref(),
    {Name, Peer} ! {hello, self(), Ref, Number + 1},
    cluster_book:note({hello, Number + 1}),
    greeted(Ref, State#{settled := Number, large := false}).

greeted(Ref, State) ->
    case next(State, 1000) of
        {{here, Ref, To, Alias}, Next} -> send_all(Next#{to => To, alias => Alias, since := now_ms()});
        {connection_gone, Next} -> receive after some(100) -> greet(Next) end;
        {nothing, #{stopped := true, number := 0}} -> ok;
        {nothing, Next} -> late(hello, Next), greet(Next);
        {_, Next} -> greeted(Ref, Next)
    end.

%% The next message that is more than bookkeeping, after that was done; connection_gone or nothing.
next(#{peer := Peer} = State, Ms) ->
    receive
        {ack, P, Count, N} -> cluster_book:note({ack, N}), {acknowledged, acknowledged(P, Count, N, State)};
        {nodedown, Peer, #{connection_id := Connection}} ->
            cluster_book:note({nodedown, Connection}),
            {connection_gone, State#{is_whole := false, sent_whole := false, since := now_ms()}};
        {nodeup, Peer, #{connection_id := Connection}} -> cluster_book:note({nodeup, Connection}), next(State, Ms);
        {Node, _, _} when Node =:= nodeup; Node =:= nodedown -> next(State, Ms);
        stop -> next(State#{stopped := true}, Ms);
        Message -> {Message, State}
    after Ms -> {nothing, State}
    end.

acknowledged(P, Count, N, #{acks := Acks, settled := Settled, is_whole := Whole} = State) ->
    case Acks of
        {P, Before} when Count =:= Before + 1 -> ok;
        {P, Before} when Count =< Before -> wrong_ack(case Count of Before -> twice; _ -> order end, Before, Count);
        {P, Before} when Whole -> wrong_ack(lost, Before, Count);
        _ -> ok
    end,
    State#{acks := {P, Count}, settled := max(N, Settled), is_whole := true, since := now_ms()}.

wrong_ack(Rule, Before, Count) -> cluster_book:broken(Rule, {acknowledgement, Before + 1}, {acknowledgement, Count}).

%% Nothing came for long, while the connection is there.
late(What, #{since := Since, peer := Peer}) ->
    now_ms() - Since > cluster_round:patience() andalso cluster_round:connection(Peer) =/= none
        andalso cluster_book:broken(lost, {What, {cluster_round:patience(), ms}}, nothing).

send_all(#{stopped := true} = State) -> last(State);
send_all(#{number := Number, settled := Settled, large := Large} = State) ->
    IsFull = Number - Settled >= ?WINDOW orelse Large andalso Number > Settled,
    case next(State, if IsFull -> ?LOOK; true -> pause() end) of
        {nothing, Next} when IsFull ->
            case late(acknowledgement, Next) of false -> send_all(Next); _ -> greet(Next#{is_whole := false, sent_whole := false, since := now_ms()}) end;
        {nothing, Next} -> send_all(send(Next));
        {connection_gone, Next} -> greet(Next);
        {acknowledged, Next} -> send_all(Next);
        {{here, _, _, _}, Next} -> send_all(Next);
        {Message, Next} -> cluster_book:broken(unexpected, acknowledgement, Message), send_all(Next)
    end.

%% Bursts, and pauses in between.
pause() -> weighted([{60, 0}, {30, some(4)}, {8, some(30)}, {2, some(200)}]).

send(#{number := Number} = State) ->
    case cluster_sabotage:is_due(reorder) of
        true -> out(Number + 2, State), out(Number + 1, State), State#{number := Number + 2};
        false -> out(Number + 1, State)
    end.

%% The message of a number; the state after it. What cannot be sent at once is not sent, if it is sent so.
out(Number, #{peer := Peer, name := Name, to := To, alias := Alias} = State) ->
    {Key, Hash, Term} = case cluster_sabotage:is_due(altered) of true -> altered(content()); false -> content() end,
    Message = fun(By) -> {item, self(), {Number, By, Key, Hash, Term}} end,
    Sent = case cluster_sabotage:is_due(drop) of
        true -> ok;
        false ->
            case some(20) of
                X when X =< 8 -> To ! Message(To), ok;
                X when X =< 12 -> {Name, Peer} ! Message(name), ok;
                X when X =< 16 -> Alias ! Message(Alias), ok;
                X when X =< 18 -> exit(To, {cluster_item, self(), {Number, To, Key, Hash, Term}}), ok;
                19 -> erlang:send(To, Message(To), [noconnect]);
                20 -> erlang:send(To, Message(To), [nosuspend])
            end
    end,
    cluster_sabotage:is_due(halt) andalso halt(7),
    cluster_sabotage:is_due(double) andalso (To ! Message(To)),
    cluster_book:note({Sent, Number}),
    case Sent of
        ok -> State#{number := Number, large := cluster_term:is_large(Term), sent_whole := true};
        _ -> State
    end.

content() ->
    case once_in(20) of
        true -> Term = cluster_term:unique(), {unique, erlang:phash2(Term), Term};
        false -> Key = rand:uniform(1 bsl 40), Term = cluster_term:make(Key), {Key, erlang:phash2(Term), Term}
    end.

altered({Key, Hash, Term}) -> {Key, Hash, [Term]}.

%% All that was sent since the last loss of a connection must have arrived.
last(#{peer := Peer, name := Name} = State) ->
    Ref = make_ref(),
    {Name, Peer} ! {last, self(), Ref},
    told(Ref, State#{since := now_ms()}).

told(Ref, #{number := Number} = State) ->
    case next(State, 1000) of
        {{done, Ref, Number}, Next} -> finished(Next);
        {{done, Ref, Seen}, #{sent_whole := Whole} = Next} -> Whole andalso cluster_book:broken(lost, {number, Number}, {number, Seen}), finished(Next);
        {connection_gone, Next} -> receive after some(100) -> last(Next) end;
        {nothing, Next} ->
            case late(last, Next) of
                false -> again(Ref, Next);
                _ -> finished(Next)
            end;
        {_, Next} -> told(Ref, Next)
    end.

%% A connection that is not there has no end that could be told.
again(Ref, #{peer := Peer} = State) ->
    case cluster_round:connection(Peer) of none -> last(State); _ -> told(Ref, State) end.

finished(#{peer := Peer, name := Name}) -> {Name, Peer} ! {bye, self()}, ok.
