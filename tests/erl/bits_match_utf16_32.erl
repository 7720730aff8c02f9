%% UTF-16 and UTF-32 in both byte orders.
-module(bits_match_utf16_32).
-export([main/1]).

main(_) ->
    Cs = [0, $a, 16#d7ff, 16#e000, 16#ffff, 16#10000, 16#1f600, 16#10ffff],
    t:w(u16, [<<C/utf16>> || C <- Cs]),
    t:w(u16l, [<<C/utf16-little>> || C <- Cs]),
    t:w(u32, [<<C/utf32>> || C <- Cs]),
    t:w(u32l, [<<C/utf32-little>> || C <- Cs]),
    t:w(back, [begin <<A/utf16>> = <<C/utf16>>, <<B/utf16-little>> = <<C/utf16-little>>, <<D/utf32>> = <<C/utf32>>, <<E/utf32-little>> = <<C/utf32-little>>, [A, B, D, E] =:= [C, C, C, C] end || C <- Cs]),
    t:w(bad16, [case B of <<X/utf16, R/bits>> -> {X, R}; _ -> no end || B <- [<<>>, <<0>>, <<16#d800:16>>, <<16#dc00:16, 0:16>>, <<16#d800:16, 0:16>>, <<16#d800:16, 16#dc00:16, 7>>, <<16#dbff:16, 16#dfff:16>>]]),
    t:w(bad32, [case B of <<X/utf32, R/bits>> -> {X, R}; _ -> no end || B <- [<<1, 2>>, <<16#110000:32>>, <<16#d800:32>>, <<16#10ffff:32, 1:1>>, <<-1:32>>]]),
    t:w(skip, [case B of <<_/utf16, _/utf16-little, R/bits>> -> R; _ -> no end || B <- [<<"ab"/utf16>>, <<16#1f600/utf16, $x/utf16-little, 9>>]]),
    t:w(text, {<<"hé"/utf16>>, <<"hé"/utf32-little>>}),
    t:w(unaligned, begin <<_:1, X/utf16, Y/utf32-little, Z:2>> = <<0:1, 16#1f600/utf16, 955/utf32-little, 2:2>>, {X, Y, Z} end).
