%% Conversions between encodings, incomplete and wrong input, normal forms.
-module(unicode_module).
-export([main/1]).

main(_) ->
    L = ["abc", "é", [955, 16#1f600], <<"é"/utf8>>, [<<"a">>, [$b, <<"é"/utf8>>]], <<233>>, <<195>>, [16#d800], [16#110000], [a], <<255, "abc">>, [<<"ok">>, <<240, 159>>], x, <<1:3>>],
    [t:e(X, fun() -> {unicode:characters_to_binary(X), unicode:characters_to_list(X)} end) || X <- L], [t:e({E, X}, fun() -> unicode:characters_to_binary(X, unicode, E) end) || E <- [latin1, utf16, {utf16, little}, utf32, {utf32, little}], X <- ["aé", [955], [16#1f600]]],
    [t:e(X, fun() -> unicode:characters_to_list(X, latin1) end) || X <- [<<233>>, [<<1>>, 300], "x"]], [t:e(B, fun() -> unicode:characters_to_list(B, utf16) end) || B <- [<<0, $a>>, <<16#d83d:16, 16#de00:16>>, <<16#d83d:16>>, <<0>>]], t:w(bom, [unicode:bom_to_encoding(B) || B <- [<<239, 187, 191, "x">>, <<254, 255>>, <<255, 254>>, <<"no">>]]), t:w(to_bom, [unicode:encoding_to_bom(E) || E <- [utf8, utf16, latin1]]),
    t:w(nf, [{unicode:characters_to_nfd_list(X), unicode:characters_to_nfc_list(X), unicode:characters_to_nfkc_list(X), unicode:characters_to_nfkd_binary(X)} || X <- ["é", [$e, 769], [64257], [44032]]]), t:w(large, byte_size(unicode:characters_to_binary(lists:duplicate(20000, 955)))), t:w(back, length(unicode:characters_to_list(binary:copy(<<"λ"/utf8>>, 20000)))),
    %% What is left of a list of one binary is that list, in an encoding that Erlang code converts.
    [t:e({E, X}, fun() -> {unicode:characters_to_list(X, E), unicode:characters_to_binary(X, E)} end)
     || E <- [utf8, latin1, utf16, {utf16, little}, utf32, {utf32, little}], X <- [<<216, 0, 1, 255, 7>>, [<<216, 0, 1, 255, 7>>], [[<<216, 0, 1, 255, 7>>]], [<<216, 0, 1, 255, 7>>, 1], [1, <<216, 0, 1, 255, 7>>]]].
