%% Random values for the steps of a sequence, by type. All choices come from `rand`, so they depend on the seed alone.
%%
%% `arg(Type)` is what a step has as an argument: mostly an earlier result of that type (`{'$', Type, Slot, Otherwise}`),
%% sometimes a value of another type. `make(Type)` is a value.
-module(seq_value).
-export([arg/1, make/1, below/1, one/1, chance/1, resolve/2, types/0, sorted/1]).

-define(SLOTS, 3).

types() -> [small, int, num, float, atom, bool, bin, bits, str, chars, list, ilist, tuple, map, pairs, any].

below(N) -> rand:uniform(N) - 1.
one(Choices) when is_tuple(Choices) -> element(rand:uniform(tuple_size(Choices)), Choices);
one(Choices) -> lists:nth(rand:uniform(length(Choices)), Choices).
chance(Percent) -> below(100) < Percent.

arg({exact, Value}) -> Value;
arg(count) -> below(12);  % of what is made: never an integer that would ask for all memory
arg({one, Choices}) -> one(Choices);
arg({list_of, Types}) -> [arg(T) || T <- Types];
arg({tuple_of, Types}) -> list_to_tuple([arg(T) || T <- Types]);
arg({some, Type}) -> [arg(Type) || _ <- lists:seq(1, below(5))];
arg(Type) ->
    case below(20) of
        N when N < 9 -> {'$', Type, below(?SLOTS), make(Type)};
        9 ->
            %% Of large maps the text and the external form show an order that is the emulator's own.
            case one(types()) of
                map when Type =/= map -> make(any);
                Other -> make(Other)
            end;
        _ -> make(Type)
    end.

%% The value of an argument: results so far replace what refers to them.
resolve({'$', Type, Slot, Otherwise}, Slots) ->
    case Slots of #{{Type, Slot} := Value} -> Value; _ -> Otherwise end;
resolve([H | T], Slots) -> [resolve(H, Slots) | resolve(T, Slots)];
resolve(T, Slots) when is_tuple(T), T =/= {} -> list_to_tuple(resolve(tuple_to_list(T), Slots));
resolve(Value, _) -> Value.

make(small) -> below(12);
make(range) -> 1 + below(100000);
make(int) ->
    case below(6) of
        0 -> below(40) - 10;
        1 -> sign((1 bsl one({3, 7, 8, 15, 16, 27, 28, 31, 32, 47, 48, 57, 58, 59, 60, 61, 62, 63, 64, 65, 95, 96, 127, 128, 129})) + below(5) - 2);
        2 -> sign((1 bsl below(70)) + below(3) - 1);
        3 -> sign(below(1 bsl 32));
        4 -> sign(below(1 bsl 62) bsl below(8));
        5 -> case below(8) of
                 0 -> sign((1 bsl one({960, 1000, 1023, 1024, 1025, 1088})) + below(3) - 1);
                 _ -> sign(lists:foldl(fun(_, Acc) -> (Acc bsl 56) bor below(1 bsl 56) end, 0, lists:seq(1, 1 + below(6))))
             end
    end;
make(num) -> make(one({int, int, float}));
make(float) ->
    case below(8) of
        0 -> one({0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, 0.1, 1.0e22, 1.0e23, 1.7976931348623157e308, 2.2250738585072014e-308, 5.0e-324, 1.0e-10, 123456789.0});
        1 -> float(sign((1 bsl one({52, 53, 54, 58, 59, 60, 62, 63, 64, 65})) + below(5) - 2));
        2 -> (below(2000000) - 1000000) / one({1, 2, 8, 10, 100, 1000, 3, 7});
        3 -> float(below(1000) - 500);
        4 -> sign(math:pow(10.0, below(50) - 25) * (1 + below(9)));
        _ -> bits_to_float(below(1 bsl 62) * 4 + below(4))
    end;
make(atom) -> one({a, b, c, ok, true, false, undefined, '', 'a b', 'ÄÖ', 'λ', '日本', infinity, nil, 'Atom', '\n'});
make(bool) -> one({true, false});
make(bin) ->
    case below(10) of
        0 -> <<>>;
        1 -> unicode:characters_to_binary([C || C <- make(chars), C =/= 16#D800]);
        2 -> list_to_binary(make(str));
        3 -> iolist_to_binary(lists:duplicate(below(5), make_bytes(below(8))));
        4 -> make_bytes(one({62, 63, 64, 65, 66, 127, 128, 255, 256, 300}));
        5 -> Skip = below(8), <<_:Skip, B/bitstring>> = make_bytes(below(20) + 1), <<B/bitstring, 0:((8 - bit_size(B) rem 8) rem 8)>>;
        _ -> make_bytes(below(24))
    end;
make(bits) ->
    case below(3) of
        0 -> make(bin);
        1 -> <<(make(bin))/binary, (below(256)):(below(8))>>;
        2 -> Bytes = make_bytes(2 + below(70)), Skip = below(16), Size = below(bit_size(Bytes) - 15), <<_:Skip, B:Size/bitstring, _/bitstring>> = Bytes, B
    end;
make(str) -> [one({$a, $b, $A, $z, $0, $9, $\s, $\n, $-, $+, $., $e, $E, $_, $,, $:, $/, $%, 255, 228}) || _ <- lists:seq(1, below(9))];
make(chars) -> [one({$a, $b, $z, $\s, $\r, $\n, $1, 223, 228, 304, 305, 776, 223, 955, 962, 4352, 4449, 4520, 8205, 12354, 44032, 64256, 65039, 16#D800, 128512, 128105, 127995, 1114111})
                || _ <- lists:seq(1, below(9))];
make(numeral) -> (one({fun() -> integer_to_list(make(int)) end, fun() -> float_to_list(make(float)) end, fun() -> float_to_list(make(float), [short]) end,
                      fun() -> mutate(try float_to_list(make(float), [{decimals, below(20)}]) catch error:badarg -> "1.e0" end) end, fun() -> mutate(integer_to_list(make(int), 2 + below(35))) end}))();
make(ilist) -> [one({below(256), below(10), make(int)}) || _ <- lists:seq(1, below(12))];
make(bytes) -> [below(256) || _ <- lists:seq(1, below(40))];
make(list) ->
    case below(12) of
        0 -> [make(any) | make(any)];
        1 -> lists:duplicate(below(6), make(any));
        2 -> [{make(small), make(any)} || _ <- lists:seq(1, below(6))];
        3 -> lists:seq(1, below(60));
        4 -> [make(num) || _ <- lists:seq(1, below(30))];
        _ -> [make(any) || _ <- lists:seq(1, below(6))]
    end;
make(iolist) -> [one({make(bin), below(256), [make(bin) | make(bin)], make(bytes), [[below(256)] | make(bin)]}) || _ <- lists:seq(1, below(5))];
make(tuple) -> case below(10) of 0 -> {}; 1 -> list_to_tuple(lists:seq(1, below(70))); _ -> list_to_tuple([make(any) || _ <- lists:seq(1, below(5))]) end;
make(map) ->
    case below(5) of
        0 -> maps:from_list([{make(key), make(small)} || _ <- lists:seq(1, one({30, 31, 32, 33, 34, 40, 100}))]);
        1 -> maps:from_list([{N, N} || N <- lists:seq(1, one({30, 31, 32, 33, 34, 64}))]);
        _ -> maps:from_list([{make(key), make(any)} || _ <- lists:seq(1, below(6))])
    end;
make(pairs) -> [{make(key), make(any)} || _ <- lists:seq(1, one({below(4), below(40)}))];
make(key) ->
    case below(10) of
        0 -> make(int);
        1 -> float(below(40));
        2 -> {below(5), below(5)};
        3 -> make(atom);
        4 -> make(bin);
        5 -> [below(4)];
        6 -> make(any);
        _ -> below(64)
    end;
make(any) ->
    case below(16) of
        0 -> make(float);
        1 -> make(atom);
        2 -> make(bin);
        3 -> make(bits);
        4 -> make(str);
        5 -> make(tuple);
        6 -> make(list);
        7 ->
            %% Large maps, and atoms that are keys, show in an order of the emulator's own.
            Keys = [case make(key) of K when is_atom(K) -> {K}; K -> K end || _ <- lists:seq(1, below(6))],
            maps:from_list([{K, below(9)} || K <- Keys]);
        8 -> [];
        9 -> make(atom);
        10 -> one({fun lists:map/2, fun erlang:'+'/2, fun maps:get/2});
        11 -> make(int);
        _ -> below(20)
    end;
make(base) -> one({2, 8, 10, 16, 36, 2 + below(35), below(40)});
make(encoding) -> one({latin1, utf8, utf16, utf32, {utf16, little}, {utf32, little}, unicode});
make(endian) -> one({big, little});
make(one_of_atoms) -> make(atom).

sign(N) -> case below(2) of 0 -> N; _ -> -N end.

make_bytes(0) -> <<>>;
make_bytes(N) -> << <<(one({0, 1, 255, 128, 10, below(256), below(256), below(256)}))>> || _ <- lists:seq(1, N) >>.

bits_to_float(N) -> case <<N:64>> of <<F/float>> -> F; _ -> 0.25 end.

%% A text with one character changed, missing or added now and then.
mutate(Text) ->
    case below(4) of
        0 when Text =/= [] -> At = below(length(Text)), {A, [_ | B]} = lists:split(At, Text), A ++ one({[], [$x], [$.], "e1", "-", " "}) ++ B;
        _ -> Text
    end.

%% In an order that is total: 1 and 1.0 are equal to lists:sort/1, which leaves them in the order they came in.
sorted(List) -> [Term || {_, Term} <- lists:sort([{term_to_binary(Term, [deterministic]), Term} || Term <- List])].
