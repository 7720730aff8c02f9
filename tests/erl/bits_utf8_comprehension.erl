%% Text pipelines with utf8 segments in comprehensions.
-module(bits_utf8_comprehension).
-export([main/1]).

main(_) ->
    S = <<"Grüße, Jürgen — 日本 😀"/utf8>>, t:w(codepoints, [C || <<C/utf8>> <= S]), t:w(upper, << <<(if C >= $a, C =< $z -> C - 32; true -> C end)/utf8>> || <<C/utf8>> <= S >>), t:w(utf16, << <<C/utf16>> || <<C/utf8>> <= S >>), t:w(stops, [C || <<C/utf8>> <= <<"ab", 255, "cd">>]), t:w(ascii, << <<C>> || <<C/utf8>> <= S, C < 128 >>), t:w(sizes, [byte_size(<<C/utf8>>) || <<C/utf8>> <= S]).
