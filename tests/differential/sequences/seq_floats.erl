%% Floating point numbers: text in both directions, arithmetic, conversions.
-module(seq_floats).
-export([step/0, init/0, run/3, done/1]).

init() -> ok.
done(_) -> ok.

step() ->
    case seq_value:below(10) of
        N when N < 7 -> seq_calls:step(calls());
        7 -> {seq_value:one({'+', '-', '*', '/'}), [seq_value:arg(num), seq_value:arg(num)], float};
        8 -> {seq_value:one({chain, compare, bits32, bits16}), [seq_value:arg(num), seq_value:arg(float)], float};
        9 -> {io_lib, [seq_value:one({"~e", "~.3e", "~.10f", "~f", "~.1f", "~g", "~.5g", "~12.4f", "~-14.2e|", "~p", "~w", "~.20f"}), seq_value:arg(float)], str}
    end.

calls() ->
    Options = {list_of, [{one, {compact, short, {decimals, 0}, {decimals, 1}, {decimals, 3}, {decimals, 17}, {decimals, 20}, {decimals, 253}, {decimals, 254}, {decimals, -1},
                                {scientific, 0}, {scientific, 1}, {scientific, 5}, {scientific, 17}, {scientific, 20}, {scientific, 249}, {scientific, 250}, {scientific, -1}, bad}}]},
    Two = {list_of, [{one, {compact, short, {decimals, 4}, {scientific, 4}}}, {one, {compact, short, {decimals, 7}, {scientific, 3}, {decimals, -3}}}]},
    {{erlang, float_to_list, [float], numeral}, {erlang, float_to_list, [float, Options], numeral}, {erlang, float_to_binary, [float, Options], bin},
     {erlang, float_to_list, [float, Two], numeral}, {erlang, float_to_binary, [float, Two], bin}, {erlang, float_to_binary, [num, Options], bin},
     {erlang, list_to_float, [numeral], float}, {erlang, list_to_float, [numeral], float}, {erlang, binary_to_float, [bin], float},
     {string, to_float, [numeral], any}, {erlang, float, [num], float}, {erlang, float, [int], float}, {erlang, float, [int], float},
     {erlang, trunc, [float], int}, {erlang, round, [float], int}, {erlang, ceil, [float], int}, {erlang, floor, [float], int}, {erlang, phash2, [float], int},
     {io_lib, format, [{exact, "~w ~p"}, {list_of, [float, float]}], any}, {io_lib_format, fwrite_g, [float], str}, {erl_scan, string, [numeral], any}, {io_lib, fread, [{exact, "~f"}, numeral], any},
     {math, sqrt, [num], float}, {math, floor, [num], float}, {math, ceil, [num], float}, {math, fmod, [num, num], float}, {math, exp, [num], float}, {math, log, [num], float},
     {math, log10, [num], float}, {math, sin, [float], float}, {math, atan2, [num, num], float}, {math, tanh, [num], float}, {math, pow, [num, num], float},
     {erlang, '<', [num, num], bool}, {erlang, '==', [num, num], bool}, {erlang, '=:=', [float, num], bool}, {erlang, term_to_binary, [float], bin},
     {erlang, term_to_binary, [float, {exact, [{minor_version, 0}]}], bin}, {erlang, abs, [float], float}}.

run({_, _} = Call, Arguments, S) -> seq_calls:run(Call, Arguments, S);
run('+', [A, B], S) -> {A + B, S};
run('-', [A, B], S) -> {A - B, S};
run('*', [A, B], S) -> {A * B, S};
run('/', [A, B], S) -> {A / B, S};
run(chain, [A, B], S) when is_float(B) -> {(A * B + B) / 3.0 - B * 0.5, S};
run(compare, [A, B], S) -> {{A < B, A == B, A =:= B, A >= B, min(A, B), max(A, B), [X || X <- lists:sort([A, B, 0, -0.0, 1.0])]}, S};
run(bits32, [A, B], S) -> <<F:32/float-little>> = <<B:32/float-little>>, {{F, <<A:64/float>>}, S};
run(bits16, [A, _], S) -> case <<A:16/float>> of <<F:16/float>> -> {F, S}; Other -> {Other, S} end;
run(io_lib, [Format, F], S) -> {lists:flatten(io_lib:format(Format, [F])), S}.
