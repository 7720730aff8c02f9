%% Rounds of aliases: messages through an alias arrive in order, and none after it was taken back.
-module(cluster_aliases).
-export([rounds/0]).
-import(cluster_chance, [some/1, once_in/1, pick/1]).
-import(cluster_round, [worker/0, ask/2, tell/2, end_of/1, watch/2, close/1, down/3, right/3]).

rounds() -> [{alias, fun explicit/0}, {alias_reply, fun reply/0}, {alias_of_monitor, fun monitored/0}].

%% Some arrive, then it is taken back while more are on their way.
explicit() ->
    W = worker(),
    A = alias(),
    N = some(20),
    tell(W, {send, A, [{A, I} || I <- lists:seq(1, 2 * N)]}),
    [right(order, I, cluster_round:await({answer, A})) || I <- lists:seq(1, N)],
    true = unalias(A),
    false = unalias(A),
    drop(A, N + 1),
    sent = ask(W, {send, A, [{A, late}]}),
    cluster_sabotage:is_due(after_unalias) andalso (self() ! {A, late}),
    right(alias, [], came(A)).

%% What came before the end of the alias is in order too.
drop(A, I) ->
    receive {A, X} -> right(order, I, X), drop(A, I + 1)
    after 0 -> ok
    end.

came(A) ->
    receive {A, X} -> [X | came(A)]
    after 0 -> []
    end.

%% One message, and no second one.
reply() ->
    W = worker(),
    A = alias([reply]),
    sent = ask(W, {send, A, [{A, I} || I <- lists:seq(1, some(5))]}),
    right(alias, [1], came(A)),
    right(alias, false, unalias(A)).

%% What becomes of the alias of a monitor.
monitored() ->
    W = worker(),
    Kind = pick([explicit_unalias, demonitor, reply_demonitor]),
    M = watch(W, [{alias, Kind}]),
    sent = ask(W, {send, M, [{M, 1}, {M, 2}]}),
    case Kind of
        reply_demonitor ->
            %% The first message takes the monitor away.
            right(alias, [1], came(M)),
            close({down, M}),
            right(alias, false, demonitor(M, [info])),
            end_of(W);
        demonitor ->
            right(alias, [1, 2], came(M)),
            case once_in(2) of
                true -> true = demonitor(M, [flush]), close({down, M}), sent = ask(W, {send, M, [{M, 3}]}), end_of(W);
                false -> down(M, W, end_of(W)), right(alias, false, unalias(M))
            end,
            right(alias, [], came(M));
        explicit_unalias ->
            right(alias, [1, 2], came(M)),
            Other = worker(),
            down(M, W, end_of(W)),
            sent = ask(Other, {send, M, [{M, 3}]}),
            right(alias, [3], came(M)),
            true = unalias(M)
    end.
