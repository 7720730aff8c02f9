%% Maps whose size goes up and down over the limit of flat maps, and up to some thousands.
-module(seq_maps).
-export([step/0, init/0, run/3, done/1]).

%% Four maps; the first is the one that most steps change.
init() -> {#{}, #{}, #{}, #{}}.
done(_) -> ok.

step() ->
    {Range, Grow} = case get(phase) of
                        {Left, R, G} when Left > 0 -> put(phase, {Left - 1, R, G}), {R, G};
                        _ -> put(phase, {20 + seq_value:below(150), seq_value:one({8, 31, 34, 40, 64, 70, 1000}), seq_value:one({15, 35, 50, 65, 90})}), {20, 50}
                    end,
    Key = fun() -> case seq_value:below(10) of
                       0 -> seq_value:make(key);
                       1 -> float(seq_value:below(Range));
                       2 -> {seq_value:below(Range)};
                       3 -> <<(seq_value:below(Range)):16>>;
                       _ -> seq_value:below(Range)
                   end end,
    Other = 2 + seq_value:below(3),
    case seq_value:below(60) of
        0 -> {copy, [Other], none};
        1 -> {swap, [Other], none};
        2 -> {merge, [Other], none};
        3 -> {merge_with, [Other], none};
        4 -> {intersect, [Other], none};
        5 -> {with, [[Key() || _ <- lists:seq(1, seq_value:below(40))]], none};
        6 -> {without, [[Key() || _ <- lists:seq(1, seq_value:below(40))]], none};
        7 -> {list, [], none};
        8 -> {keys, [], none};
        9 -> {iterate, [], none};
        10 -> {ordered, [seq_value:one({ordered, reversed})], none};
        11 -> {filter, [seq_value:below(5)], none};
        12 -> {compare, [Other], none};
        13 -> {hash, [], none};
        14 -> {external, [], none};
        15 -> {sizes, [], none};
        16 -> {put_many, [Key(), Key(), Key(), seq_value:arg(any)], none};
        17 -> {update_many, [Key(), Key(), seq_value:arg(any)], none};
        18 -> {from_list, [[{Key(), seq_value:below(9)} || _ <- lists:seq(1, seq_value:one({3, 33, 50, 200}))]], none};
        19 -> {from_keys, [[Key() || _ <- lists:seq(1, seq_value:one({3, 33, 50, 200}))]], none};
        20 -> {range, [seq_value:one({31, 32, 33, 34, 64, 300})], none};
        21 -> {comprehension, [seq_value:below(Range)], none};
        22 -> {group, [seq_value:below(6)], none};
        23 -> {match, [Key()], any};
        24 -> {send, [], none};
        25 -> {table, [], none};
        N when N < 32 -> {take, [Key()], any};
        N when N < 38 -> {find, [Key()], any};
        N when N < 42 -> {update, [Key(), seq_value:arg(any)], none};
        _ -> case seq_value:chance(Grow) of
                 true -> {put, [Key(), seq_value:arg(any)], none};
                 false -> {remove, [Key()], none}
             end
    end.

%% After a change: its size, and now and then all of it.
changed(M, S) -> {map_size(M), setelement(1, S, M)}.
whole(M, S) -> {seq_value:sorted(maps:to_list(M)), setelement(1, S, M)}.

run(put, [K, V], S) -> changed((element(1, S))#{K => V}, S);
run(remove, [K], S) -> changed(maps:remove(K, element(1, S)), S);
run(update, [K, V], S) -> changed((element(1, S))#{K := V}, S);
run(put_many, [A, B, C, V], S) -> whole((element(1, S))#{A => V, B => 2, C => A, fixed => B}, S);
run(update_many, [A, B, V], S) -> whole((element(1, S))#{A := V, B => A}, S);
run(take, [K], S) -> case maps:take(K, element(1, S)) of {V, M} -> {V, setelement(1, S, M)}; error -> {error, S} end;
run(find, [K], S) -> {{maps:find(K, element(1, S)), is_map_key(K, element(1, S)), maps:get(K, element(1, S), none)}, S};
run(match, [K], S) -> case element(1, S) of #{K := V} -> {V, S}; _ -> {no, S} end;
run(copy, [I], S) -> {ok, setelement(I, S, element(1, S))};
run(swap, [I], S) -> {ok, setelement(1, setelement(I, S, element(1, S)), element(I, S))};
run(merge, [I], S) -> whole(maps:merge(element(1, S), element(I, S)), S);
run(merge_with, [I], S) -> whole(maps:merge_with(fun(_, A, B) -> if A > B -> A; true -> B end end, element(1, S), element(I, S)), S);
run(intersect, [I], S) -> {seq_value:sorted(maps:to_list(maps:intersect(element(1, S), element(I, S)))), S};
run(with, [Ks], S) -> {seq_value:sorted(maps:to_list(maps:with(Ks, element(1, S)))), S};
run(without, [Ks], S) -> changed(maps:without(Ks, element(1, S)), S);
run(list, [], S) -> whole(element(1, S), S);
run(keys, [], S) -> {{seq_value:sorted(maps:keys(element(1, S))), seq_value:sorted(maps:values(element(1, S)))}, S};
run(iterate, [], S) -> {seq_value:sorted(iterate(maps:next(maps:iterator(element(1, S))))), S};
run(ordered, [Order], S) -> {iterate(maps:next(maps:iterator(element(1, S), Order))), S};
run(filter, [N], S) -> changed(maps:filter(fun(K, _) -> erlang:phash2(K, 7) =/= N end, element(1, S)), S);
run(compare, [I], S) -> A = element(1, S), B = element(I, S), {{A == B, A =:= B, A < B, A > B, maps:with(maps:keys(A), B) =:= A}, S};
run(hash, [], S) -> {{erlang:phash2(element(1, S)), erlang:phash(element(1, S), 1 bsl 32)}, S};
run(external, [], S) -> M = element(1, S), {{binary_to_term(term_to_binary(M)) =:= M, erlang:external_size(M)}, S};
run(sizes, [], S) -> {[map_size(element(I, S)) || I <- [1, 2, 3, 4]], S};
run(from_list, [L], S) -> whole(maps:from_list(L), S);
run(from_keys, [L], S) -> whole(maps:from_keys(L, 7), S);
run(range, [N], S) -> changed(maps:from_list([{I, I * I} || I <- lists:seq(1, N)]), S);
run(comprehension, [N], S) -> whole(#{K => {V} || K := V <- element(1, S), K =/= N}, S);
run(group, [N], S) -> {seq_value:sorted(maps:to_list(maps:groups_from_list(fun(X) -> erlang:phash2(X, N + 1) end, seq_value:sorted(maps:keys(element(1, S)))))), S};
run(send, [], S) -> self() ! element(1, S), receive M -> whole(M, S) end;
run(table, [], S) ->
    T = ets:new(t, []),
    ets:insert(T, {1, element(1, S)}),
    [{1, M}] = ets:lookup(T, 1),
    ets:delete(T),
    whole(M, S).

iterate(none) -> [];
iterate({K, V, I}) -> [{K, V} | iterate(maps:next(I))].
