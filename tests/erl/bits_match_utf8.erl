%% UTF-8 segments: every length, overlong forms, surrogates, truncation.
-module(bits_match_utf8).
-export([main/1]).

main(_) ->
    Cs = [0, 16#7f, 16#80, 16#7ff, 16#800, 16#d7ff, 16#e000, 16#fffd, 16#ffff, 16#10000, 16#10ffff],
    t:w(make, [<<C/utf8>> || C <- Cs]),
    t:w(back, [begin <<X/utf8>> = <<C/utf8>>, X =:= C end || C <- Cs]),
    t:w(unaligned, [begin <<_:3, X/utf8, R/bits>> = <<5:3, C/utf8, 1:2>>, {X, R} end || C <- Cs]),
    t:w(bad, [case B of <<X/utf8, R/bits>> -> {X, R}; _ -> no end || B <- [<<>>, <<16#80>>, <<16#c0, 16#80>>, <<16#c1, 16#bf>>, <<16#c2>>, <<16#c2, 16#20>>, <<16#e0, 16#80, 16#80>>,
        <<16#e0, 16#a0, 16#80>>, <<16#e2, 16#82>>, <<16#ed, 16#a0, 16#80>>, <<16#ed, 16#9f, 16#bf>>, <<16#f0, 16#80, 16#80, 16#80>>, <<16#f0, 16#90, 16#80, 16#80>>, <<16#f4, 16#90, 16#80, 16#80>>,
        <<16#f4, 16#8f, 16#bf, 16#bf>>, <<16#f5, 1, 1, 1>>, <<16#ff>>, <<16#fe>>, <<$a:7>>, <<$a, 1:1>>]]),
    t:w(skip, [case B of <<_/utf8, R/bits>> -> R; _ -> no end || B <- [<<"é"/utf8>>, <<"€x"/utf8>>, <<255>>, <<>>]]),
    t:w(literal, [case B of <<"é"/utf8, R/bits>> -> R; <<$x/utf8, _/bits>> -> x; _ -> no end || B <- [<<"étoile"/utf8>>, <<"xyz">>, <<"e">>]]),
    t:w(all, begin L = [C || C <- lists:seq(0, 16#10ffff, 97), C < 16#d800 orelse C > 16#dfff], L =:= [C || <<C/utf8>> <= << <<C/utf8>> || C <- L >>] end),
    t:w(string, <<"aé€😀"/utf8>>),
    t:w(count, length([1 || <<_/utf8>> <= <<"naïve café 日本語"/utf8>>])).
