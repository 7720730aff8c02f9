%% Characters of UTF-8 text are taken from a binary and put into another one.
-module(binary_utf8).
-export([main/1, group/0]).

group() -> compute.

main(_) ->
    Text = unicode:characters_to_binary(lists:append(lists:duplicate(4000, "Grüße an Ærlang, 日本語 and plain words; "))),
    bench:time(?MODULE, fun() -> [{length(list(Text)), byte_size(upper(Text, <<>>)), erlang:crc32(upper(Text, <<>>))} || _ <- lists:seq(1, 16)] end).

list(<<C/utf8, Rest/binary>>) -> [C | list(Rest)];
list(<<>>) -> [].

upper(<<C/utf8, Rest/binary>>, Done) when C >= $a, C =< $z -> upper(Rest, <<Done/binary, (C - 32)>>);
upper(<<C/utf8, Rest/binary>>, Done) -> upper(Rest, <<Done/binary, C/utf8>>);
upper(<<>>, Done) -> Done.
