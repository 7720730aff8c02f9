%% Rounds of links and exit signals across nodes: each link tells its end once, with the right reason, and not after unlink/1.
-module(cluster_links).
-export([rounds/0]).
-import(cluster_chance, [some/1, once_in/1, pick/1, in_a_while/0]).
-import(cluster_round, [worker/0, child/0, ask/2, tell/2, end_of/1, watch/1, down/3, tie/1, untie/1, gone/2, may_come/1, right/3, fence/0]).

rounds() ->
    [{link, fun one/0}, {unlink, fun unlinked/0}, {link_again, fun again/0}, {link_to_the_dead, fun dead/0}, {links_from_afar, fun afar/0}, {link_chain, fun chain/0},
     {exit_signals, fun signals/0}].

%% Linked from one side, or from both at about the same time, which is one link.
one() ->
    W = worker(),
    may_come({exit, W}),
    case some(4) of
        1 -> tie(W);
        2 -> tie(W), tie(W);
        3 -> ask(W, {call, erlang, link, [self()]}), cluster_round:open({exit, W});
        4 -> tell(W, {call, erlang, link, [self()]}), tie(W)
    end,
    gone(W, end_of(W)).

%% The end may be on its way while the link is taken back.
unlinked() ->
    W = worker(),
    M = watch(W),
    tie(W),
    Early = once_in(2),
    Early andalso untie(W),
    Reason = end_of(W),
    Early orelse begin in_a_while(), untie(W) end,
    down(M, W, Reason).

again() ->
    W = worker(),
    M = watch(W),
    [begin tie(W), once_in(4) andalso in_a_while(), untie(W) end || _ <- lists:seq(1, some(20))],
    Linked = once_in(2),
    Linked andalso tie(W),
    Reason = end_of(W),
    Linked andalso gone(W, Reason),
    down(M, W, Reason).

dead() ->
    W = worker(),
    M = watch(W),
    down(M, W, end_of(W)),
    tie(W),
    gone(W, noproc).

%% A process here ends, and those linked to it are on the other node.
afar() ->
    Home = child(),
    Ws = [begin
              W = worker(),
              ask(W, {call, erlang, process_flag, [trap_exit, true]}),
              case some(4) of
                  1 -> ask(W, {call, erlang, link, [Home]}), {W, 1};
                  2 -> ask(Home, {call, erlang, link, [W]}), {W, 1};
                  3 -> ask(Home, {call, erlang, link, [W]}), ask(Home, {call, erlang, unlink, [W]}), {W, 0};
                  %% The answer comes after the link signal, and the end of this process after that.
                  4 -> ask(W, {call, erlang, link, [Home]}), ask(W, {call, erlang, unlink, [Home]}), {W, 0}
              end
          end || _ <- lists:seq(1, some(4))],
    M = watch(Home),
    Reason = end_of(Home),
    down(M, Home, Reason),
    [begin
         right(exit_reason, [{'EXIT', Home, Reason} || N =:= 1], ask(W, {seen, N})),
         cluster_book:count(exits, N)
     end || {W, N} <- Ws],
    fence(),
    [right(exit_twice, [], ask(W, {seen, 0})) || {W, _} <- Ws].

%% A reason goes from link to link, here and there in turn. `normal` ends no other process.
chain() ->
    Ps = [begin P = pick([worker(), child()]), {P, watch(P)} end || _ <- lists:seq(1, 1 + some(6))],
    Links = lists:zip(lists:droplast(Ps), tl(Ps)),
    [begin
         ask(A, {call, erlang, link, [B]}),
         %% When this has an answer, B has heard of the link.
         Ref = make_ref(),
         tell(A, {send, B, [{ask, self(), Ref, echo}]}),
         cluster_round:await({answer, Ref})
     end || {{A, _}, {B, _}} <- Links],
    Reason = cluster_term:reason(some(1 bsl 40)),
    {First, _} = pick(Ps),
    tell(First, {exit, Reason}),
    [down(M, P, Reason) || {P, M} <- Ps].

%% Exit signals and messages of one process arrive in the order in which it sent them.
signals() ->
    W = worker(),
    M = watch(W),
    exit(W, normal),
    true = ask(W, {call, erlang, is_process_alive, [W]}),
    ask(W, {call, erlang, process_flag, [trap_exit, true]}),
    Sent = [begin
                Reason = pick([cluster_term:reason(some(1 bsl 40)), normal, shutdown]),
                case once_in(3) of
                    true -> W ! {note, Reason}, {note, Reason};
                    false -> exit(W, Reason), {'EXIT', self(), Reason}
                end
            end || _ <- lists:seq(1, some(12))],
    right(order, Sent, ask(W, {seen, length(Sent)})),
    exit(W, kill),
    down(M, W, killed).
