%% Floats to text: shortest, scientific, decimals, and back.
-module(bif_float_text).
-export([main/1]).

main(_) ->
    Fs = [0.0, -0.0, 1.0, 0.1, 0.2, 0.30000000000000004, 1.0e10, 1.0e15, 1.0e16, 1.0e21, 1.0e22, 1.0e23, 123456789.123, 1.0e-3, 1.0e-4, 1.0e-5, 1.0e-7, 5.0e-324,
          2.2250738585072014e-308, 1.7976931348623157e308, 3.141592653589793, 9007199254740993.0, 4503599627370497.5, 0.000123456789, -1.5, 100.0, 1.0e100, 12345.678e-200],
    [t:w(F, {float_to_list(F, [short]), float_to_list(F), float_to_list(F, [{scientific, 3}])}) || F <- Fs],
    [io:format("~w ~p ~g~n", [F, F, F]) || F <- Fs],
    [t:w(D, [float_to_list(F, [{decimals, D}]) || F <- [0.0, 1.5, 2.5, 0.125, -0.05, 99.995, 123456.789, 1.0e15]]) || D <- [0, 1, 2, 3, 10, 20]],
    [t:w(D, [float_to_binary(F, [{decimals, D}, compact]) || F <- [0.0, 1.5, 0.125, 100.0]]) || D <- [0, 1, 2, 5]],
    [t:w(S, [float_to_list(F, [{scientific, S}]) || F <- [0.0, 1.5, 12345.678, -1.0e-10]]) || S <- [0, 1, 5, 20]],
    t:all({erlang, float_to_list}, [[1], [a], [1 bsl 70]]),
    t:all({erlang, float_to_list}, [[1.0, []], [1.0, [foo]], [1.0, foo], [1.0, [{decimals, -1}]], [1.0, [{decimals, 300}]], [1.0, [{scientific, 250}]], [1, [short]], [1.0, [{decimals, 2}, {scientific, 2}]], [1.0e300, [{decimals, 2}]]]),
    t:all({erlang, list_to_float}, [["1.0"], ["-1.5e3"], ["1.0e-400"], ["1.0e400"], ["1"], ["1."], [".5"], ["1.0e"], ["1e5"], ["+1.5"], [" 1.0"], ["1.0 "], ["1.0E5"], [""], [foo], ["1,0"], ["inf"], ["123456789012345678901234567890.5"]]),
    t:all({erlang, binary_to_float}, [[<<"2.5">>], [<<"x">>], [<<>>], ["2.5"], [<<"-0.0">>], [<<"1.0e+10">>], [<<"00001.50">>]]),
    t:w(round_trip, [F =:= list_to_float(float_to_list(F, [short])) andalso F =:= list_to_float(float_to_list(F)) || F <- Fs]),
    t:all({string, to_float}, [["1.5x"], ["12"], ["-2.0e1"], ["a"], [<<"3.25">>]]),
    t:w(parsed, [1.0e0, 1.5E-3, 16#ff, 2#101, 36#zz, $a, 1_000_000, 1.0_1]).
