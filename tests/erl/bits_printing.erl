%% Text of binaries and bitstrings in the different formats.
-module(bits_printing).
-export([main/1]).

main(_) ->
    Bs = [<<>>, <<1, 2, 3>>, <<"hello">>, <<"h", 0>>, <<5:3>>, <<"ab", 1:1>>, <<"é"/utf8>>, <<233>>, <<"日本"/utf8>>, <<"a\"b\\c\n">>, binary:copy(<<"x">>, 100)],
    [io:format("~w ~p ~tp ~P~n", [B, B, B, B, 8]) || B <- Bs],
    [io:format("~s|~ts|~10s|~-10s|~.3s|~n", [B, B, B, B, B]) || B <- [<<>>, <<"hello">>, <<"x">>]],
    t:e(s_unicode, fun() -> io_lib:format("~s", [<<"é"/utf8>>]) end),
    t:e(s_bits, fun() -> io_lib:format("~s", [<<1:1>>]) end),
    t:e(ts_bad, fun() -> io_lib:format("~ts", [<<255>>]) end).
