%% Integers that are no characters, before and after what is no character data.
-module(unicode_big_chars).
-export([main/1]).
main(_) ->
  Big = 1 bsl 70,
  [io:format("~0p ~0p ~0p~n", [F, L, catch unicode:F(L)]) || L <- [[-Big], [Big], [-Big, <<255>>, false], [$a, Big], [$a, -1], [1.0], [$a,1.0], [$a|Big], [a], [$a, [Big]], [[Big]|foo], [16#D800], [16#110000,foo], [<<255>>,foo], [foo,<<255>>], [Big,foo], [1,foo,Big], <<1:1>>, [<<1:1>>], Big, {}], F <- [characters_to_binary, characters_to_list, characters_to_nfc_binary]],
  [io:format("~0p ~0p ~0p~n", [F, L, catch unicode:F(L, latin1)]) || L <- [[-Big], [Big], [-Big, <<255>>, false], [$a, Big], [$a, -1], [300], [300,foo], [<<1:1>>]], F <- [characters_to_binary, characters_to_list]],
  [io:format("~0p ~0p~n", [L, catch unicode:characters_to_binary(L, utf8, latin1)]) || L <- [[-Big], [Big], [300, foo], [$a, 300, Big]]],
  [io:format("~0p ~0p~n", [L, catch unicode:characters_to_binary(L, utf8, {utf16,little})]) || L <- [[-Big], [Big], [300, foo], [$a, 300, Big]]],
  [io:format("~0p ~0p~n", [L, catch list_to_binary(L)]) || L <- [[-Big], [Big], [300, foo], [$a, 300, Big], [foo|Big]]].
