%% Rounds of processes that are started on the other node: each request has one answer, each process starts once.
-module(cluster_spawns).
-export([rounds/0]).
-import(cluster_chance, [some/1, once_in/1, pick/1, shuffle/1, in_a_while/0]).
-import(cluster_round, [peer/0, is_steady/0, end_of/1, known/1, open/1, close/1, may_come/1, await/1, arrived/1, watch/1, down/3, down/4, gone/2, right/3]).

rounds() ->
    [{spawn_requests, fun requests/0}, {spawn_wrong, fun wrong/0}, {spawn_abandoned, fun abandoned/0}, {spawn_functions, fun functions/0}].

%% Several requests under way at once.
requests() ->
    Requests = [request(I) || I <- lists:seq(1, some(6))],
    [ended(R) || R <- shuffle([answered(R) || R <- shuffle(Requests)])].

request(I) ->
    Started = make_ref(),
    Reply = pick([yes, yes, no, success_only, error_only]),
    [IsLinked, IsMonitored] = [once_in(3), once_in(3)],
    Tag = pick([spawn_reply, {tag, I}]),
    Options = shuffle([link || IsLinked] ++ [pick([monitor, {monitor, [{tag, 'DOWN'}]}]) || IsMonitored] ++ [{reply, Reply}, {reply_tag, Tag} | options()]),
    Request = case some(3) of
        1 -> Me = self(), spawn_request(peer(), fun() -> cluster_worker:init(Me, Started) end, Options);
        2 -> spawn_request(peer(), cluster_worker, init, [self(), Started], Options);
        3 -> Key = some(1 bsl 40), spawn_request(peer(), cluster_worker, init, [self(), Started, Key, cluster_term:make(Key)], Options)
    end,
    open({answer, Started}),
    %% Without an answer to errors it is not known, when the connection is lost, if there is a process.
    case Reply of
        yes -> open({spawn, Request}), IsMonitored andalso open({down, Request});
        _ -> [may_come(Key) || Key <- [{spawn, Request}, {down, Request}]]
    end,
    IsLinked andalso may_come({exit, any}),
    #{request => Request, started => Started, reply => Reply, tag => Tag, is_linked => IsLinked, is_monitored => IsMonitored}.

options() ->
    pick([[], [], [], [{priority, high}], [{min_heap_size, some(5000)}], [{fullsweep_after, 0}], [{message_queue_data, off_heap}], [{async_dist, true}]]).

%% The process is there. What tells of the success comes before all that the process sends.
answered(#{request := Request, started := Started, reply := Reply, tag := Tag, is_linked := IsLinked, is_monitored := IsMonitored} = R) ->
    P = known(await({answer, Started})),
    cluster_book:count(processes),
    %% When the connection of the request ended before the reply was out, the process says over a new one that it is there: it is not monitored then.
    is_steady() orelse throw(lost),
    case lists:member(Reply, [yes, success_only]) of
        true ->
            right(spawn_reply, {Tag, ok, P}, arrived({spawn, Request})),
            cluster_sabotage:is_due(reply_twice) andalso (self() ! {Tag, Request, ok, P});
        false -> ok
    end,
    IsMonitored andalso open({down, Request}),
    IsLinked andalso open({exit, P}),
    R#{process => P}.

ended(#{request := Request, process := P, is_linked := IsLinked, is_monitored := IsMonitored}) ->
    Reason = end_of(P),
    IsMonitored andalso down(Request, P, Reason),
    IsLinked andalso gone(P, Reason).

%% Requests that cannot be, and a function that is not there.
wrong() ->
    Reply = pick([yes, no, success_only, error_only]),
    Bad = spawn_request(peer(), cluster_worker, init, [self()], shuffle([{cluster_no_option, 1}, {reply, Reply}] ++ [monitor || once_in(2)] ++ [link || once_in(2)])),
    case lists:member(Reply, [yes, error_only]) of
        true -> right(spawn_reply, {spawn_reply, error, badopt}, await(open({spawn, Bad})));
        false -> ok
    end,
    Undefined = spawn_request(peer(), cluster_worker, cluster_no_function, [], [monitor]),
    [open({Kind, Undefined}) || Kind <- [spawn, down]],
    {spawn_reply, Ok, P} = await({spawn, Undefined}),
    Ok =:= error andalso close({down, Undefined}),
    right(spawn_reply, ok, Ok),
    {'DOWN', process, Found, Reason} = await({down, Undefined}),
    right(down_reason, P, Found),
    case Reason of {undef, [_ | _]} -> ok; _ -> cluster_round:excuse(down_reason, undef, Reason) end.

%% A request that was abandoned has no answer and no effect here; one that could not be abandoned was answered already.
abandoned() ->
    Options = pick([[], [link], [monitor], [link, monitor]]),
    Request = spawn_request(peer(), cluster_worker, init, [self()], Options),
    once_in(2) andalso in_a_while(),
    case spawn_request_abandon(Request) of
        true -> cluster_book:count(abandoned);
        false ->
            may_come({exit, any}),
            {Tag, Ok, P} = arrived({spawn, Request}),
            right(spawn_reply, {spawn_reply, ok}, {Tag, Ok}),
            known(P),
            lists:member(monitor, Options) andalso open({down, Request}),
            lists:member(link, Options) andalso open({exit, P}),
            ended(#{request => Request, process => P, is_linked => lists:member(link, Options), is_monitored => lists:member(monitor, Options)})
    end.

%% The functions that wait for the answer themselves. (They return a pid even where there is no connection.)
functions() ->
    may_come({exit, any}),
    Me = self(),
    case some(5) of
        1 ->
            P = known(spawn(peer(), fun() -> cluster_worker:init(Me) end)),
            M = watch(P),
            down(M, P, end_of(P));
        2 ->
            P = known(spawn_link(peer(), cluster_worker, init, [Me])),
            open({exit, P}),
            gone(P, end_of(P));
        3 ->
            {P, M} = spawn_monitor(peer(), cluster_worker, init, [Me]),
            open({down, M}),
            down(M, known(P), end_of(P));
        4 ->
            {P, M} = spawn_opt(peer(), cluster_worker, init, [Me], [link, {monitor, [{tag, mine}]} | options()]),
            open({down, M}),
            open({exit, P}),
            Reason = end_of(known(P)),
            gone(P, Reason),
            down(M, mine, P, Reason);
        5 ->
            P = known(proc_lib:spawn_link(peer(), fun() -> cluster_worker:init(Me) end)),
            open({exit, P}),
            gone(P, end_of(P))
    end.
