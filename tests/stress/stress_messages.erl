%% Rounds of messages. Every message has a number and comes once, in order for each sender and receiver, with its contents.
-module(stress_messages).
-export([rounds/0]).
-import(stress_round, [some/1, chance/1, pick/1, sample/2, usual/1, name/1, child/1, children/2, payload/1, check/2, gone/1, in_a_while/0]).

rounds() ->
    [{pairs, fun() -> graph(2, fun both/1, 400) end},
     {fan_in, fun() -> graph(usual(20), fun([R | Ss]) -> [{S, R} || S <- Ss] end, 100) end},
     {fan_out, fun() -> graph(usual(20), fun([S | Rs]) -> [{S, R} || R <- Rs] end, 100) end},
     {mesh, fun() -> graph(some(usual(10)) + 1, fun(Ps) -> [{A, B} || A <- Ps, B <- Ps] end, 30) end},
     {any_graph, fun() -> graph(some(usual(12)) + 1, fun(Ps) -> [{A, B} || A <- Ps, B <- Ps, chance(2)] end, 60) end},
     {ring, fun ring/0}, {calls, fun calls/0}, {markers, fun markers/0}, {late_answers, fun late_answers/0}, {to_the_dead, fun to_the_dead/0}].

both([A, B]) -> [{A, B}, {B, A}].

%% ---- each sends its numbers along its edges ----

graph(N, Edges, Most) ->
    Round = self(),
    Count = some(usual(Most)),
    Ps = [child(fun() -> sender(Round, I) end) || I <- lists:seq(1, N)],
    Address = maps:from_list([receive {address, P, A} -> {P, A} end || P <- Ps]),
    All = Edges(Ps),
    [P ! {edges, [map_get(To, Address) || {From, To} <- All, From =:= P], [From || {From, To} <- All, To =:= P], Count} || P <- Ps],
    [receive {done, P} -> ok end || P <- Ps],
    Ms = [{monitor(process, P), P} || P <- Ps],
    [P ! finish || P <- Ps],
    [stress_round:down(M, normal) || {M, _} <- Ms],
    stress:count(messages, Count * length(All)).

sender(Round, I) ->
    Alias = alias(),
    Round ! {address, self(), address(I, Alias)},
    receive {edges, Targets, Sources, Count} -> ok end,
    Expected = exchange(1, Count, Targets, maps:from_list([{S, 1} || S <- Sources])),
    Left = length(Sources) * Count - lists:sum([N - 1 || N <- maps:values(Expected)]),
    _ = await(Left, Expected),
    Round ! {done, self()},
    receive finish -> ok end,
    unalias(Alias),
    0 = element(2, process_info(self(), message_queue_len)).

address(I, Alias) ->
    case some(4) of
        1 -> Alias;
        2 -> true = register(name(I), self()), name(I);
        3 -> true = register(name(I), self()), {name(I), node()};
        4 -> self()
    end.

exchange(N, Count, _, Expected) when N > Count -> Expected;
exchange(N, Count, Targets, Expected) ->
    Content = payload(N),
    [send(T, {numbered, self(), N, Content}) || T <- Targets],
    chance(40) andalso change_oneself(),
    exchange(N + 1, Count, Targets, case chance(3) of true -> take(Expected); false -> Expected end).

send(To, Message) ->
    case some(3) of
        1 -> To ! Message;
        2 -> erlang:send(To, Message);
        3 -> ok = erlang:send(To, Message, [noconnect])
    end.

change_oneself() ->
    case some(7) of
        1 -> erlang:garbage_collect();
        2 -> erlang:yield();
        3 -> process_flag(message_queue_data, pick([on_heap, off_heap]));
        4 -> process_flag(priority, pick([low, normal, high]));
        5 -> process_flag(fullsweep_after, some(10));
        6 -> in_a_while();
        7 -> erlang:garbage_collect(self(), [{type, minor}])
    end.

%% What is there.
take(Expected) -> receive {numbered, S, N, Content} -> take(next(S, N, Content, Expected)) after 0 -> Expected end.

%% How many more are expected: the next one, or the next of one of them.
await(0, Expected) -> Expected;
await(Left, Expected) ->
    case chance(4) of
        true ->
            {S, Next} = pick(maps:to_list(Expected)),
            receive {numbered, S, N, Content} when N >= Next -> await(Left - 1, next(S, N, Content, Expected))
            after 0 -> await_any(Left, Expected)
            end;
        false -> await_any(Left, Expected)
    end.

await_any(Left, Expected) -> receive {numbered, S, N, Content} -> await(Left - 1, next(S, N, Content, Expected)) end.

next(S, N, Content, Expected) ->
    case Expected of
        #{S := N} -> check(N, Content), Expected#{S := N + 1};
        #{S := Other} -> exit({out_of_order, S, {expected, Other}, {got, N}})
    end.

%% ---- tokens in a ring ----

ring() ->
    Round = self(),
    {Tokens, Rounds} = {some(5), usual(50)},
    Ps = children(some(usual(40)) + 1, fun() -> receive {next, Next} -> pass(Next, Round) end end),
    [P ! {next, Next} || {P, Next} <- lists:zip(Ps, tl(Ps) ++ [hd(Ps)])],
    [pick(Ps) ! {token, T, Rounds * length(Ps), 0} || T <- lists:seq(1, Tokens)],
    [receive {token, T, Sum} -> Sum = Rounds * length(Ps) end || T <- lists:seq(1, Tokens)],
    stress:count(messages, Tokens * Rounds * length(Ps)),
    Ms = [monitor(process, P) || P <- Ps],
    [P ! stop || P <- Ps],
    [stress_round:down(M, normal) || M <- Ms].

pass(Next, Round) ->
    receive
        {token, T, 0, Sum} -> Round ! {token, T, Sum}, pass(Next, Round);
        {token, T, Left, Sum} -> Next ! {token, T, Left - 1, Sum + 1}, pass(Next, Round);
        stop -> ok
    end.

%% ---- questions and answers ----

serve() ->
    receive
        {call, To, Ref, X} -> chance(20) andalso in_a_while(), To ! {Ref, X + 1}, serve();
        stop -> ok
    end.

calls() ->
    Servers = children(some(3), fun serve/0),
    Clients = [child(fun() -> call(Servers, usual(100)) end) || _ <- lists:seq(1, some(usual(10)))],
    gone_well(Clients, fun(P) -> P ! go end),
    gone_well(Servers, fun(P) -> P ! stop end).

gone_well(Ps, Tell) ->
    Ms = [monitor(process, P) || P <- Ps],
    [Tell(P) || P <- Ps],
    [stress_round:down(M, normal) || M <- Ms].

call(Servers, Count) ->
    receive go -> ok end,
    Count = lists:foldl(fun(_, X) ->
                            S = pick(Servers),
                            Ref = monitor(process, S, case some(3) of 1 -> []; 2 -> [{alias, demonitor}]; 3 -> [{alias, reply_demonitor}] end),
                            S ! {call, self(), Ref, X},
                            receive {Ref, Y} -> demonitor(Ref, [flush]), Y end
                        end, 0, lists:seq(1, Count)),
    stress:count(messages, 2 * Count).

%% Calls, while numbered messages from others lie in front of the answers.
markers() ->
    Round = self(),
    Server = child(fun serve/0),
    Count = some(usual(300)),
    Client = child(fun() ->
                       receive {senders, Ss} -> ok end,
                       [S ! go || S <- Ss],
                       lists:foreach(fun(X) -> Ref = make_ref(), Server ! {call, self(), Ref, X}, receive {Ref, Y} -> Y = X + 1 end end, lists:seq(1, Count)),
                       await(length(Ss) * Count, maps:from_list([{S, 1} || S <- Ss])),
                       Round ! {done, self()}
                   end),
    Ss = children(3, fun() -> receive go -> ok end, exchange(1, Count, [Client], #{}) end),
    Client ! {senders, Ss},
    receive {done, Client} -> ok end,
    gone([Client | Ss]),
    gone_well([Server], fun(P) -> P ! stop end),
    stress:count(messages, Count * 5).

%% A process that gave up waiting hears nothing later.
late_answers() ->
    Servers = children(some(3), fun serve/0),
    Clients = children(some(usual(8)), fun() -> receive go -> ok end, give_up(Servers, usual(60)) end),
    gone_well(Clients, fun(P) -> P ! go end),
    gone_well(Servers, fun(P) -> P ! stop end).

give_up(Servers, Count) ->
    Answered = lists:sum([begin
        S = pick(Servers),
        Ref = monitor(process, S, [{alias, pick([explicit_unalias, demonitor, reply_demonitor])}]),
        S ! {call, Ref, Ref, X},
        receive {Ref, Y} -> Y = X + 1, unalias(Ref), demonitor(Ref, [flush]), 1
        after some(3) - 1 ->
            unalias(Ref), demonitor(Ref, [flush]),
            receive {Ref, Y} -> Y = X + 1, 1 after 0 -> 0 end
        end
    end || X <- lists:seq(1, Count)]),
    true = Answered =< Count,
    %% All late answers have come, or have not: a call in order tells.
    [begin Ref = make_ref(), S ! {call, self(), Ref, 1}, receive {Ref, 2} -> ok end end || S <- Servers],
    case process_info(self(), messages) of {messages, []} -> ok; {messages, Late} -> exit({late, Late}) end.

%% To processes, names and aliases that are no more: nothing happens.
to_the_dead() ->
    Ps = children(usual(20), fun() -> receive die -> ok end end),
    Aliases = [begin A = alias(), unalias(A), A end || _ <- lists:seq(1, 5)],
    Others = child(fun() -> [begin P ! {any, payload(X)}, X rem 7 =:= 0 andalso (P ! die) end || X <- lists:seq(1, usual(200)), P <- sample(3, Ps)] end),
    [A ! {never, payload(X)} || X <- lists:seq(1, 20), A <- Aliases],
    [P ! die || P <- Ps],
    gone([Others | Ps]),
    [P ! payload(11 * X) || P <- Ps, X <- [1, 10, 60]],
    Name = name(99),
    {'EXIT', {badarg, _}} = (catch Name ! hello),
    stress:count(messages, length(Ps)).
