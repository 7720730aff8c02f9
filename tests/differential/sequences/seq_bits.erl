%% Bit syntax with sizes, units, signs and byte orders that are known at run time only, appending, and functions on binaries.
-module(seq_bits).
-export([step/0, init/0, run/3, done/1]).

init() -> ok.
done(_) -> ok.

step() ->
    Size = fun() -> case seq_value:below(12) of 0 -> seq_value:arg(any); 1 -> -1; 2 -> seq_value:one({56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 72, 128, 130}); _ -> seq_value:below(70) end end,
    case seq_value:below(9) of
        8 -> {iovec, [seq_value:arg(iolist)], bin};
        0 -> {{make, seq_value:below(16)}, [Size(), seq_value:arg(num)], bits};
        1 -> {{make2, seq_value:below(10)}, [Size(), seq_value:arg(bits), seq_value:arg(int)], bits};
        N when N < 4 -> {{match, seq_value:below(22)}, [Size(), seq_value:arg(bits)], any};
        4 -> {{append, seq_value:below(6)}, [seq_value:arg(bits), seq_value:below(12), seq_value:arg(int)], bits};
        5 -> {{comprehension, seq_value:below(8)}, [seq_value:arg(bits), 1 + seq_value:below(20)], any};
        _ -> seq_calls:step(calls())
    end.

calls() ->
    {{binary, at, [bin, small], int}, {binary, part, [bin, small, small], bin}, {binary, part, [bin, {tuple_of, [small, small]}], bin}, {erlang, binary_part, [bin, small, int], bin},
     {erlang, split_binary, [bin, small], any}, {erlang, binary_to_list, [bin], list}, {erlang, binary_to_list, [bin, small, small], list}, {erlang, bitstring_to_list, [bits], list},
     {erlang, list_to_bitstring, [{some, bits}], bits}, {erlang, list_to_binary, [iolist], bin}, {erlang, iolist_to_binary, [iolist], bin}, {erlang, iolist_size, [iolist], int},
     {erlang, list_to_bitstring, [iolist], bits}, {binary, copy, [bin], bin}, {binary, copy, [bin, count], bin}, {binary, match, [bin, bin], any},
     {binary, match, [bin, {some, bin}], any}, {binary, matches, [bin, {some, bin}], any}, {binary, matches, [bin, bin, {list_of, [{exact, {scope, {1, 3}}}]}], any}, {binary, split, [bin, bin], any},
     {binary, split, [bin, {some, bin}, {one, {[global], [global, trim], [global, trim_all], [trim], [{scope, {1, 4}}], [{scope, {3, -2}}, global]}}], any},
     {binary, replace, [bin, bin, bin, {one, {[global], [], [{insert_replaced, 1}], [global, {insert_replaced, [0, 1]}]}}], bin}, {binary, longest_common_prefix, [{some, bin}], int},
     {binary, longest_common_suffix, [{some, bin}], int}, {binary, encode_hex, [bin], bin}, {binary, decode_hex, [bin], bin}, {binary, join, [{some, bin}, bin], bin},
     {binary, first, [bin], int}, {binary, last, [bin], int}, {binary, bin_to_list, [bin, {tuple_of, [small, small]}], list}, {binary, list_to_bin, [bytes], bin},
     {erlang, byte_size, [bits], int}, {erlang, bit_size, [bits], int}, {erlang, md5, [iolist], bin}, {erlang, crc32, [iolist], int}, {erlang, adler32, [iolist], int}, {erlang, phash2, [bits], int},
     {erlang, term_to_binary, [bits], bin}, {erlang, crc32_combine, [int, int, small], int}, {erlang, '<', [bits, bits], bool}, {erlang, '==', [bits, bits], bool},
     {base64, encode, [bin], bin}, {base64, decode, [bin], bin}}.

run({make, N}, [S, V], State) -> {make(N, S, V), State};
run({make2, N}, [S, B, V], State) -> {make2(N, S, B, V), State};
run({match, N}, [S, B], State) -> {match(N, S, B), State};
run({append, N}, [B, Times, V], State) -> {append(N, B, Times, V), State};
run({comprehension, N}, [B, S], State) -> {comprehension(N, B, S), State};
%% How many binaries there are in it is the emulator's own.
run(iovec, [L], State) -> {iolist_to_binary(erlang:iolist_to_iovec(L)), State};
run(Call, Arguments, State) -> seq_calls:run(Call, Arguments, State).

make(0, S, V) -> <<V:S>>;
make(1, S, V) -> <<V:S/little>>;
make(2, S, V) -> <<V:S/signed>>;
make(3, S, V) -> <<V:S/unit:8>>;
make(4, S, V) -> <<V:S/little-unit:3>>;
make(5, S, V) -> <<1:3, V:S, 2:5>>;
make(6, S, V) -> <<V:64/float, V:S/little>>;
make(7, _, V) -> <<V:32/float-little>>;
make(8, _, V) -> <<V:16/float>>;
make(9, S, _) -> <<S/utf8>>;
make(10, S, _) -> <<S/utf16, S/utf32>>;
make(11, S, V) -> <<V:7, V:S/little, V:13/little, V:S>>;
make(12, S, V) -> <<V:S/native-signed-unit:2>>;
make(13, S, V) -> <<"abc", V:24, S:16/little, 0:S>>;
make(14, S, V) -> <<V:S/float>>;
make(15, S, V) -> <<V:3, S:5, V:59, S:60, V:61/little>>.

make2(0, S, B, _) -> <<B:S/binary>>;
make2(1, S, B, _) -> <<B:S/bitstring>>;
make2(2, S, B, V) -> <<V:S, B/bitstring>>;
make2(3, S, B, V) -> <<B/bitstring, V:S>>;
make2(4, _, B, V) -> <<B/binary, V:8, B/binary>>;
make2(5, S, B, V) -> <<V:5, B/bitstring, V:S/little, B/bitstring>>;
make2(6, S, B, _) -> <<B:S/binary-unit:4, 0:4>>;
make2(7, S, B, _) -> <<0:3, B:S/bitstring, 1:5>>;
make2(8, S, B, _) -> <<B:S/binary-unit:7, B/bitstring>>;
make2(9, _, B, V) -> <<B/bitstring, B/bitstring, (<<V:11>>)/bitstring>>.

match(0, S, B) -> <<A:S, R/bitstring>> = B, {A, R};
match(1, S, B) -> <<A:S/little, R/bitstring>> = B, {A, R};
match(2, S, B) -> <<A:S/signed, R/bitstring>> = B, {A, R};
match(3, S, B) -> <<A:S/signed-little, R/bitstring>> = B, {A, R};
match(4, S, B) -> <<_:3, A:S, R/bitstring>> = B, {A, R};
match(5, S, B) -> <<A:S/binary, R/bitstring>> = B, {A, R};
match(6, S, B) -> <<A:S/bitstring, R/bitstring>> = B, {A, R};
match(7, S, B) -> <<_:S, A/bitstring>> = B, A;
match(8, _, B) -> <<A:64/float, R/bitstring>> = B, {A, R};
match(9, _, B) -> <<A:32/float-little, R/bitstring>> = B, {A, R};
match(10, _, B) -> case B of <<C/utf8, R/bitstring>> -> {utf8, C, R}; <<C/utf16, R/bitstring>> -> {utf16, C, R}; <<C/utf32, _/bitstring>> -> C; _ -> no end;
match(11, S, B) -> case B of <<S, R/bitstring>> -> R; <<_:1, S:S, _/bitstring>> -> yes; <<A:9/signed, _/bitstring>> -> A; _ -> no end;
match(12, _, B) -> case B of <<A:8, B1:16/little, C:24/signed, D:32, R/binary>> -> {A, B1, C, D, R}; <<A:8, R/binary>> -> {A, R}; <<A:1, R/bitstring>> -> {A, R}; <<>> -> empty end;
match(13, S, B) -> <<N:4, A:N/binary, R:S/bitstring, _/bitstring>> = B, {N, A, R};
match(14, _, B) -> <<A:60, C:61/little-signed, _/bitstring>> = B, {A, C};
match(15, _, B) -> <<A:59/signed, C:5, D:64, _/bitstring>> = B, {A, C, D};
match(16, S, B) -> <<A:S/unit:8, _/bitstring>> = B, A;
match(17, S, B) -> <<A:S/little-signed-unit:3, R/bitstring>> = B, {A, bit_size(R)};
match(18, _, B) -> case B of <<"ab", R/binary>> -> {ab, R}; <<0, 1, R/binary>> -> {z, R}; <<255, R/bitstring>> -> {f, R}; <<0:1, R/bitstring>> -> {b0, R}; _ -> none end;
match(19, _, B) -> <<A:16/float, _/bitstring>> = B, A;
match(20, S, B) -> <<_:S/binary, 0, R/binary>> = B, R;
match(21, _, B) -> walk(B, 0).

walk(<<C, R/bitstring>>, Sum) -> walk(R, (Sum * 31 + C) band 16#FFFFFF);
walk(Rest, Sum) -> {Sum, Rest}.

append(0, B, N, V) -> append_bytes(N, B, V);
append(1, B, N, V) -> append_bits(N, B, V);
append(2, B, N, V) -> A = append_bytes(N, B, V), {A1, A2} = {<<A/binary, 1>>, <<A/binary, 2>>}, <<A1/binary, A2/binary>>;
append(3, B, N, V) -> A = append_bits(N, B, V), _ = <<A/bitstring, 7:3>>, <<A/bitstring, 5:3>>;
append(4, B, N, V) -> lists:foldl(fun(I, Acc) -> <<Acc/bitstring, I:13, V:I>> end, B, lists:seq(1, N));
append(5, B, N, V) -> prepend(N, B, V).

append_bytes(0, B, _) -> B;
append_bytes(N, B, V) -> append_bytes(N - 1, <<B/binary, V, N:16/little>>, V).
append_bits(0, B, _) -> B;
append_bits(N, B, V) -> append_bits(N - 1, <<B/bitstring, V:5, N:17/little>>, V).
prepend(0, B, _) -> B;
prepend(N, B, V) -> prepend(N - 1, <<V:9, B/bitstring>>, V).

comprehension(0, B, S) -> << <<X:S/little>> || <<X:S>> <= B >>;
comprehension(1, B, S) -> [X || <<X:S/signed>> <= B];
comprehension(2, B, _) -> << <<(X + 1):7>> || <<X:8>> <= B, X rem 3 =/= 0 >>;
comprehension(3, B, S) -> [{X, Y} || <<X:3, Y:S/bitstring>> <= B];
comprehension(4, B, _) -> << <<X/utf8>> || <<X/utf8>> <= B >>;
comprehension(5, B, S) -> << <<X:S/float>> || <<X:8>> <= B >>;
comprehension(6, B, S) -> << <<Y:S>> || <<X>> <= B, Y <- [X, X + 1], X > 3 >>;
comprehension(7, B, S) -> << X || <<X:S/bitstring, _:1>> <= B >>.
