%% Appending in place: which other terms see the block, and when it may not be written.
-module(bits_append_alias).
-export([main/1]).

main(_) ->
    A = grow(100, <<>>),
    %% Two versions of one prefix, and of versions.
    B = <<A/binary, 1:16>>, C = <<A/binary, 2:16>>, D = <<B/binary, 3>>, E = <<B/binary, 4>>, F = <<D/binary, "x">>,
    t:w(forks, [last(X) || X <- [A, B, C, D, E, F]]),
    %% A failed append gives the room back, and the source stays.
    Bad = [catch_append(A, X) || X <- [x, 1.0, 7, {}, 1 bsl 70]],
    t:w(failed, [last(X) || X <- Bad]),
    t:w(after_failed, [last(<<A/binary, 9>>), last(A)]),
    %% Fails in the middle: what was written after the source belongs to no term.
    G = <<B/binary, 1, 2, 3>>,
    t:w(middle, {catch_middle(G, x), last(G), last(<<G/binary, 4>>), last(<<G/binary, 5>>)}),
    %% A whole binary that is exactly as large as its block, and a slice of its end.
    H = id(list_to_binary(lists:duplicate(100, $h))),
    <<_:50/binary, Tail/binary>> = H, <<All:100/binary>> = H,
    I = <<Tail/binary, "tail">>, J = <<All/binary, "all">>, K = <<H/binary, "h">>, L = <<All/binary, "other">>,
    t:w(exact, [{byte_size(X), last(X)} || X <- [H, Tail, All, I, J, K, L]]),
    %% Many times over the room, with old slices kept.
    {M, Kept} = keep(2000, <<>>, []),
    t:w(kept, {byte_size(M), length(Kept), lists:all(fun(X) -> X =:= binary:part(M, 0, byte_size(X)) end, Kept)}),
    %% Another process has the same block: both append.
    Me = self(),
    Pids = [spawn_link(fun() -> receive X -> Me ! {self(), last(twice(X, N))} end end) || N <- lists:seq(1, 5)],
    [P ! M || P <- Pids],
    Mine = twice(M, 77),
    t:w(sent, [receive {P, X} -> X end || P <- Pids]),
    t:w(mine, {last(Mine), last(M)}),
    %% Persistent terms belong to all processes.
    persistent_term:put(?MODULE, grow(50, <<>>)),
    PT = fun(N) -> last(twice(persistent_term:get(?MODULE), N)) end,
    Ps = [spawn_monitor(fun() -> exit(PT(N)) end) || N <- lists:seq(1, 5)],
    t:w(persistent, [PT(9), PT(10), [receive {'DOWN', R, _, _, X} -> X end || {_, R} <- Ps], last(persistent_term:get(?MODULE))]),
    persistent_term:erase(?MODULE),
    %% ETS, dictionary, message to self.
    T = ets:new(t, []), N = grow(30, <<>>), ets:insert(T, {k, N}), put(k, N), self() ! N,
    O = <<N/binary, "one">>, [{_, Q}] = ets:lookup(T, k), R = <<Q/binary, "two">>, S = <<(get(k))/binary, "three">>,
    U = receive Msg when is_binary(Msg) -> <<Msg/binary, "four">> end,
    t:w(places, [last(X) || X <- [N, O, Q, R, S, U]]),
    %% Not at a byte.
    V = grow3(300, <<>>), W = <<V/bitstring, 1:3>>, X1 = <<V/bitstring, 2:3>>, Y = <<V/bitstring, 1:4, 255>>, Z = <<V/bitstring, 7>>,
    t:w(bits, [{bit_size(Q1), erlang:phash2(Q1)} || Q1 <- [V, W, X1, Y, Z]]),
    t:w(comprehensions, [erlang:phash2(<< <<Q2:Size>> || Q2 <- lists:seq(1, 1000) >>) || Size <- [1, 7, 8, 9, 16, 24, 33, 64, 65, 128]]),
    t:w(bad_comprehension, try << <<Q3:16, "x">> || Q3 <- lists:seq(1, 500) ++ [x] >> catch Cl:Er -> {Cl, Er} end),
    t:w(self_append, last(lists:foldl(fun(_, Acc) -> <<Acc/binary, Acc/binary, "+">> end, <<"a">>, lists:seq(1, 14)))),
    t:w(old_heap, begin Old = grow(200, <<>>), garbage_collect(), garbage_collect(), {last(<<Old/binary, "n">>), last(grow(5000, Old)), last(Old)} end),
    t:w(referenced, begin X2 = binary:copy(grow(100, <<>>)), {byte_size(X2), binary:referenced_byte_size(X2)} end).

grow(0, B) -> B;
grow(N, B) -> grow(N - 1, <<B/binary, N:32, (N band 7)>>).
grow3(0, B) -> B;
grow3(N, B) -> grow3(N - 1, <<B/bitstring, N:3>>).
keep(0, B, L) -> {B, L};
keep(N, B, L) -> C = <<B/binary, N:16, "-">>, keep(N - 1, C, [C | L]).
twice(B, N) -> C = <<B/binary, N:32>>, D = <<B/binary, (N + 1):32, C/binary>>, _ = <<C/binary, 0:800>>, D.
catch_append(B, X) -> try <<B/binary, 5, X:16>> catch error:R -> <<B/binary, (atom_to_binary(R))/binary>> end.
catch_middle(B, X) -> try <<B/binary, "written", X>> catch error:R -> R end.
last(B) when byte_size(B) < 12 -> B;
last(B) -> {byte_size(B), erlang:md5(B), binary:part(B, byte_size(B), -12)}.
id(X) -> X.
