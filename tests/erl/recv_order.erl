%% Messages between two processes keep their order, however many senders there are.
-module(recv_order).
-export([main/1]).

main(_) ->
    Me = self(),
    [spawn(fun() -> [Me ! {S, N} || N <- lists:seq(1, 200)] end) || S <- lists:seq(1, 20)],
    t:w(in_order, [collect(S, 200, 1) || S <- lists:seq(1, 20)]),
    P = spawn(fun() -> relay(Me) end),
    [P ! N || N <- lists:seq(1, 1000)],
    t:w(relayed, collect_plain(1, 1000)),
    Q = spawn(fun() -> receive go -> Me ! {got, t:flush()} end end),
    Q ! 1, Q ! {2}, Q ! [3], Q ! <<4>>, Q ! 5.0, Q ! go,
    t:w(before_go, receive {got, L} -> L end),
    X = spawn(fun() -> [Me ! {x, N} || N <- [1, 2, 3]], exit(fin) end), M = monitor(process, X),
    t:w(down_last, begin receive {'DOWN', M, _, _, R} when R =:= fin; R =:= noproc -> ok end, [receive {x, N} -> N after 0 -> none end || _ <- [1, 2, 3]] end).
collect(_, 0, _) -> ok;
collect(S, K, N) -> receive {S, N} -> collect(S, K - 1, N + 1); {S, O} -> {wrong, O, N} end.
collect_plain(N, Max) when N > Max -> ok;
collect_plain(N, Max) -> receive N -> collect_plain(N + 1, Max); O -> {wrong, O} end.
relay(To) -> receive M -> To ! M, relay(To) end.
