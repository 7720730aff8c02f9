%% Words of a text are found byte by byte, counted in a map and sorted.
-module(word_count).
-export([main/1, group/0]).

group() -> compute.

main(_) ->
    Text = iolist_to_binary([["The ", integer_to_list(N * 7919 rem 997, 36), " of word", integer_to_list(N rem 300), ", and\nmore; "] || N <- lists:seq(1, 60000)]),
    bench:time(?MODULE, fun() -> work(Text) end).

work(Text) ->
    Counts = words(Text, Text, 0, 0, #{}),
    lists:sublist(lists:sort(fun({A, N}, {B, M}) -> {N, B} >= {M, A} end, maps:to_list(Counts)), 50).

%% The word under way begins at At in the text and is of Length bytes.
words(<<C, Rest/binary>>, Text, At, Length, Counts) when C >= $a, C =< $z; C >= $A, C =< $Z; C >= $0, C =< $9 -> words(Rest, Text, At, Length + 1, Counts);
words(<<_, Rest/binary>>, Text, At, Length, Counts) -> words(Rest, Text, At + Length + 1, 0, count(Text, At, Length, Counts));
words(<<>>, Text, At, Length, Counts) -> count(Text, At, Length, Counts).

count(_, _, 0, Counts) -> Counts;
count(Text, At, Length, Counts) ->
    Word = binary:part(Text, At, Length),
    case Counts of
        #{Word := Count} -> Counts#{Word := Count + 1};
        _ -> Counts#{Word => 1}
    end.
