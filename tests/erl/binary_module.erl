%% The binary module: search, split, replace, parts, encodings; with errors.
-module(binary_module).
-export([main/1]).

main(_) ->
    S = <<"the quick brown fox jumps over the lazy dog">>,
    t:all({binary, match}, [[S, <<"fox">>], [S, [<<"dog">>, <<"the">>]], [S, <<"zebra">>], [S, <<>>], [S, []], [<<>>, <<"a">>], [S, x], [x, <<"a">>], [S, [<<>>]], [<<1:3>>, <<"a">>], [S, [<<"laz">>, <<"lazy">>]]]),
    t:all({binary, match}, [[S, <<"the">>, [{scope, {1, 40}}]], [S, <<"the">>, [{scope, {43, -12}}]], [S, <<"a">>, [{scope, {1, 100}}]], [S, <<"a">>, [foo]]]),
    t:all({binary, matches}, [[S, <<"o">>], [S, [<<"th">>, <<"the">>, <<"e">>]], [<<"aaaa">>, <<"aa">>], [S, <<"zz">>], [S, <<>>]]),
    t:all({binary, split}, [[<<"a,b,,c">>, <<",">>], [<<>>, <<",">>], [S, [<<" ">>]], [x, <<",">>]]),
    t:all({binary, split}, [[<<"a,b,,c,">>, <<",">>, [global]], [<<"a,b,,c,">>, <<",">>, [global, trim]], [<<",a,,b,">>, <<",">>, [global, trim_all]], [<<"a;b,c">>, [<<",">>, <<";">>], [global]], [<<"a,b">>, <<",">>, [bad]]]),
    t:all({binary, replace}, [[<<"aXbX">>, <<"X">>, <<"--">>], [<<"abc">>, <<"z">>, <<"y">>]]),
    t:all({binary, replace}, [[<<"aXbX">>, <<"X">>, <<"--">>, [global]], [<<"aXbX">>, <<"X">>, <<"[]">>, [global, {insert_replaced, 1}]], [<<"abc">>, [<<"a">>, <<"c">>], <<>>, [global]]]),
    t:e(replace_fun, fun() -> binary:replace(<<"abcb">>, <<"b">>, fun(B) -> <<B/binary, B/binary>> end, [global]) end),
    t:all({binary, part}, [[S, {4, 5}], [S, {43, -3}], [S, {40, 4}], [S, x]]),
    t:all({binary, part}, [[S, 0, 3], [S, 44, 0], [S, -1, 1], [x, 0, 0]]),
    t:all({binary, at}, [[<<1, 2, 3>>, 0], [<<1, 2, 3>>, 2], [<<1, 2, 3>>, 3], [<<1, 2, 3>>, -1], [<<1:3>>, 0]]),
    t:all({binary, first}, [[<<7, 8>>], [<<>>], [x]]), t:all({binary, last}, [[<<7, 8>>], [<<>>], [x]]),
    t:all({binary, copy}, [[<<1, 2>>, 3], [<<1, 2>>, 0], [<<1, 2>>, -1], [<<>>, 100], [x, 1]]), t:all({binary, copy}, [[<<1, 2>>], [x]]),
    t:all({binary, bin_to_list}, [[<<1, 2, 3>>], [x]]), t:all({binary, bin_to_list}, [[<<1, 2, 3>>, {1, 2}], [<<1, 2, 3>>, {2, 2}]]),
    t:all({binary, list_to_bin}, [[[1, <<2>>]], [x], [[300]]]),
    t:all({binary, longest_common_prefix}, [[[<<"abc">>, <<"abd">>]], [[<<"abc">>]], [[<<>>, <<"a">>]], [[]], [x]]),
    t:all({binary, longest_common_suffix}, [[[<<"abc">>, <<"xbc">>]], [[<<"a">>, <<"b">>]], [[]]]),
    t:all({binary, encode_unsigned}, [[0], [255], [256], [1 bsl 64], [-1], [a]]), t:all({binary, encode_unsigned}, [[258, little], [258, big], [258, x]]),
    t:all({binary, decode_unsigned}, [[<<1, 2>>], [<<>>], [<<0, 0, 1>>], [x]]), t:all({binary, decode_unsigned}, [[<<1, 2>>, little], [<<1, 2>>, x]]),
    t:all({binary, encode_hex}, [[<<1, 171, 255>>], [<<>>], [x]]), t:all({binary, encode_hex}, [[<<171>>, lowercase], [<<171>>, x]]),
    t:all({binary, decode_hex}, [[<<"01abFF">>], [<<"0">>], [<<"zz">>], [x]]),
    t:all({binary, compile_pattern}, [[<<>>], [[]], [x]]),
    P = binary:compile_pattern([<<"quick">>, <<"lazy">>]),
    t:w(compiled, {binary:match(S, P), binary:matches(S, P), binary:split(S, P, [global])}),
    t:all({binary, join}, [[[<<"a">>, <<"b">>], <<", ">>], [[], <<>>], [[<<"a">>], <<"x">>], [x, <<>>], [[a], <<>>]]).
