%% A process that does what its home, the process of a round, tells it. It ends with its home, and when it loses the connection to it.
%% It is also the process `cluster_echo` of a node, which has no home and answers all.
-module(cluster_worker).
-export([init/1, init/2, init/4, echo/0, take_name/1]).

init(Home) -> loop(#{monitor => monitor(process, Home), seen => [], wanted => none}).

%% Says first that it is there.
init(Home, Ref) ->
    cluster_sabotage:is_now(late) andalso begin erlang:disconnect_node(node(Home)), timer:sleep(200) end,
    Home ! {Ref, self()},
    init(Home).

%% Looks at an argument of any size, too.
init(Home, Ref, Key, Term) ->
    cluster_book:place({worker, Key}),
    Term =:= cluster_term:make(Key) orelse cluster_book:broken(altered, {cluster_term, Key}, Term),
    init(Home, Ref).

echo() ->
    register(cluster_echo, self()),
    loop(#{monitor => none, seen => [], wanted => none}).

loop(#{seen := Seen, wanted := {From, Ref, N}} = State) when length(Seen) >= N ->
    From ! {Ref, lists:reverse(Seen)},
    loop(State#{seen := [], wanted := none});
loop(#{monitor := M, seen := Seen} = State) ->
    receive
        {ask, From, Ref, What} -> loop(answer(What, From, Ref, State));
        {tell, What} -> do(What), loop(State);
        {'DOWN', M, process, _, Why} -> exit({cluster_worker, Why});
        {stale, _, _} = Message -> cluster_old:came(Message), loop(State);
        %% Exit signals, ends of monitored processes and others: told when `seen` is asked for.
        Message -> loop(State#{seen := [Message | Seen]})
    end.

answer(echo, From, Ref, State) -> From ! {Ref, echo}, State;
answer({seen, N}, From, Ref, State) -> State#{wanted := {From, Ref, N}};
answer(What, From, Ref, State) -> From ! {Ref, do(What)}, State.

do({exit, Reason}) -> exit(Reason);
do({call, M, F, Args}) -> apply(M, F, Args);
do({send, To, Messages}) -> [To ! Message || Message <- Messages], sent;
do({send_from_child, To, Message}) -> spawn(fun() -> To ! Message end), sent.

%% A round that lost its connection may have left a worker under the name.
take_name(Name) ->
    _ = try unregister(Name) catch error:badarg -> none end,
    register(Name, self()).
