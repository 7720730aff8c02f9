%% Integers around the limits of small ones and of digits, and of a thousand bits: operators, guards and functions.
-module(seq_numbers).
-export([step/0, init/0, run/3, done/1]).

init() -> ok.
done(_) -> ok.

step() ->
    case seq_value:below(3) of
        0 -> seq_calls:step(calls());
        1 -> {seq_value:one({'+', '-', '*', 'div', 'rem', 'band', 'bor', 'bxor', '<', '=<', '==', '=:=', '/=', '=/=', '/', min, max}), [seq_value:arg(num), seq_value:arg(num)], int};
        2 -> case seq_value:below(4) of
                 0 -> {seq_value:one({'bsl', 'bsr'}), [seq_value:arg(int), seq_value:below(300) - 150], int};
                 1 -> {seq_value:one({'bnot', '-', '+', abs, trunc, round, float, ceil, floor, inc, dec, double, is_small}), [seq_value:arg(num)], num};
                 2 -> {seq_value:one({add3, mul_add, in_range, pair}), [seq_value:arg(int), seq_value:arg(int), seq_value:arg(int)], int};
                 3 -> {seq_value:one({div10, rem8, band255, div_pow, sum, bits}), [seq_value:arg(int)], int}
             end
    end.

calls() ->
    {{erlang, '+', [num, num], num}, {erlang, '-', [num, num], num}, {erlang, '*', [num, num], num}, {erlang, 'div', [int, int], int},
     {erlang, 'rem', [int, int], int}, {erlang, 'band', [int, int], int}, {erlang, 'bor', [int, int], int}, {erlang, 'bxor', [int, int], int},
     {erlang, integer_to_list, [int], str}, {erlang, integer_to_list, [int, base], str}, {erlang, integer_to_binary, [int, base], bin},
     {erlang, list_to_integer, [numeral], int}, {erlang, list_to_integer, [numeral, base], int}, {erlang, list_to_integer, [str, base], int},
     {string, to_integer, [numeral], any}, {erlang, binary_to_integer, [bin], int}, {binary, encode_unsigned, [int], bin},
     {binary, decode_unsigned, [bin], int}, {binary, decode_unsigned, [bin, endian], int}, {binary, encode_unsigned, [int, endian], bin},
     {math, sqrt, [num], float}, {math, log2, [num], float}, {math, pow, [num, small], float}, {math, fmod, [num, num], float},
     {erlang, float, [num], float}, {erlang, trunc, [num], int}, {erlang, round, [num], int}, {erlang, ceil, [num], int}, {erlang, floor, [num], int},
     {erlang, max, [num, num], num}, {erlang, min, [num, num], num}, {erlang, abs, [num], num}, {erlang, phash2, [num], int},
     {lists, sum, [list], int}, {lists, sort, [list], list}, {erlang, term_to_binary, [num], bin}, {erlang, phash, [num, range], int},
     {erlang, external_size, [num], int}, {erlang, crc32, [int, bin], int}, {erlang, adler32, [int, bin], int}, {lists, max, [list], num}}.

run({_, _} = Call, Arguments, S) -> seq_calls:run(Call, Arguments, S);
run(Operator, Arguments, S) -> {operator(Operator, Arguments), S}.

operator('+', [A, B]) -> A + B;
operator('-', [A, B]) -> A - B;
operator('*', [A, B]) -> A * B;
operator('div', [A, B]) -> A div B;
operator('rem', [A, B]) -> A rem B;
operator('band', [A, B]) -> A band B;
operator('bor', [A, B]) -> A bor B;
operator('bxor', [A, B]) -> A bxor B;
operator('<', [A, B]) -> A < B;
operator('=<', [A, B]) -> A =< B;
operator('==', [A, B]) -> A == B;
operator('=:=', [A, B]) -> A =:= B;
operator('/=', [A, B]) -> A /= B;
operator('=/=', [A, B]) -> A =/= B;
operator('/', [A, B]) -> A / B;
operator(min, [A, B]) -> min(A, B);
operator(max, [A, B]) -> max(A, B);
operator('bsl', [A, B]) -> A bsl B;
operator('bsr', [A, B]) -> A bsr B;
operator('bnot', [A]) -> bnot A;
operator('-', [A]) -> - A;
operator('+', [A]) -> + A;
operator(abs, [A]) -> abs(A);
operator(trunc, [A]) -> trunc(A);
operator(round, [A]) -> round(A);
operator(float, [A]) -> float(A);
operator(ceil, [A]) -> ceil(A);
operator(floor, [A]) -> floor(A);
operator(inc, [A]) -> A + 1;
operator(dec, [A]) -> A - 1;
operator(double, [A]) -> A + A;
operator(is_small, [A]) -> if is_integer(A), A >= -576460752303423488, A < 576460752303423488 -> yes; true -> no end;
operator(add3, [A, B, C]) -> A + B - C;
%% Stock's JIT leaves the addition of 0 out, which matters for -0.0.
operator(mul_add, [A, B, 0]) -> A * B;
operator(mul_add, [A, B, C]) -> A * B + C;
operator(in_range, [A, B, C]) -> if A >= B, A =< C -> between; A < B -> below; true -> above end;
operator(pair, [A, B, C]) -> {A div (B bor 1), A rem (B bor 1), (A bxor C) band B};
operator(div10, [A]) -> A div 10;
operator(rem8, [A]) -> A rem 8;
operator(band255, [A]) -> A band 255;
operator(div_pow, [A]) -> {A div 1024, A rem 1024, A div 7, A rem 7, A bsr 10, A band 16#FFFFFFFFFFFFFFFF};
operator(sum, [A]) -> sum(A, 5, 0);
operator(bits, [A]) -> <<A:64>>.

sum(_, 0, Sum) -> Sum;
sum(A, N, Sum) -> sum(A - 1, N - 1, Sum + A).
