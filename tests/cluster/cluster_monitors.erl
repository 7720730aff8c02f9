%% Rounds of monitors across nodes: each tells once, with the right reason, and not after it was taken back.
-module(cluster_monitors).
-export([rounds/0]).
-import(cluster_chance, [some/1, once_in/1, pick/1, shuffle/1, usual/1, in_a_while/0]).
-import(cluster_round, [peer/0, name/0, worker/0, child/0, ask/2, end_of/1, watch/1, watch/2, unwatch/1, down/3, down/4, right/3, fence/0]).

rounds() ->
    [{monitors, fun one/0}, {monitor_tags, fun tags/0}, {monitor_of_name, fun names/0}, {monitor_of_nothing, fun nothing/0}, {monitors_from_afar, fun afar/0}, {many_monitors, fun many/0}].

%% Several monitors of one process, by pid and by name, some of them taken back.
one() ->
    W = worker(),
    true = ask(W, {call, cluster_worker, take_name, [name()]}),
    Ms = [{watch(Of, options()), Of} || _ <- lists:seq(1, some(6)), Of <- [pick([W, W, {name(), peer()}])]],
    {Kept, Dropped} = lists:partition(fun(_) -> not once_in(3) end, Ms),
    Early = once_in(2),
    Early andalso [unwatch(M) || {M, _} <- Dropped],
    Reason = end_of(W),
    %% Taken back while the end is perhaps on its way.
    Early orelse begin in_a_while(), [unwatch(M) || {M, _} <- Dropped] end,
    [down(M, Of, Reason) || {M, Of} <- shuffle(Kept)].

options() -> pick([[], [], [{alias, explicit_unalias}], [{alias, demonitor}]]).

tags() ->
    W = worker(),
    Ms = [{watch(W, [{tag, Tag}]), Tag} || I <- lists:seq(1, some(4)), Tag <- [cluster_term:small(I)]],
    Reason = end_of(W),
    [down(M, Tag, W, Reason) || {M, Tag} <- shuffle(Ms)].

%% A monitor by name is of the process that had the name at that time.
names() ->
    W = worker(),
    true = ask(W, {call, cluster_worker, take_name, [name()]}),
    By = watch({name(), peer()}),
    true = ask(W, {call, erlang, unregister, [name()]}),
    Without = watch({name(), peer()}),
    down(Without, {name(), peer()}, noproc),
    down(By, {name(), peer()}, end_of(W)).

nothing() ->
    W = worker(),
    M = watch(W),
    down(M, W, end_of(W)),
    [down(watch(Of), Of, noproc) || Of <- shuffle([W, {cluster_no_name, peer()}])].

%% The monitors are on the other node.
afar() ->
    Home = child(),
    true = ask(Home, {call, cluster_worker, take_name, [name()]}),
    Ws = [begin
              W = worker(),
              Ms = [{ask(W, {call, erlang, monitor, [process, Of]}), Of} || _ <- lists:seq(1, some(3)), Of <- [pick([Home, {name(), node()}])]],
              Dropped = [M || {M, _} <- Ms, once_in(3)],
              [true = ask(W, {call, erlang, demonitor, [M, [flush]]}) || M <- Dropped],
              {W, [E || {M, _} = E <- Ms, not lists:member(M, Dropped)]}
          end || _ <- lists:seq(1, some(3))],
    Own = watch(Home),
    Reason = end_of(Home),
    down(Own, Home, Reason),
    [begin
         Seen = ask(W, {seen, length(Ms)}),
         cluster_book:count(downs, length(Ms)),
         right(down_reason, lists:sort([{'DOWN', M, process, Of, Reason} || {M, Of} <- Ms]), lists:sort(Seen))
     end || {W, Ms} <- Ws],
    fence(),
    [right(down_twice, [], ask(W, {seen, 0})) || {W, _} <- Ws].

many() ->
    Ws = [worker() || _ <- lists:seq(1, usual(40))],
    Ms = [{watch(W), W} || W <- Ws],
    Ends = [{M, W, end_of(W)} || {M, W} <- shuffle(Ms)],
    [down(M, W, Reason) || {M, W, Reason} <- shuffle(Ends)].
