%% Searches in large binaries with one and many patterns, overlapping and rare.
-module(binary_search_large).
-export([main/1]).

main(_) ->
    B = << <<(N * 7919 rem 251)>> || N <- lists:seq(1, 100000) >>,
    t:w(one, length(binary:matches(B, <<100>>))),
    <<_:5000/binary, Needle:20/binary, _/binary>> = B,
    t:w(needle, {binary:match(B, Needle), length(binary:matches(B, Needle))}),
    t:w(rare, binary:match(<<B/binary, "end of it">>, <<"end of it">>)),
    t:w(many, erlang:phash2(binary:matches(B, [<<1, X>> || X <- lists:seq(0, 255)]))),
    t:w(split, length(binary:split(B, <<0>>, [global]))),
    t:w(joined, iolist_to_binary(lists:join(<<0>>, binary:split(B, <<0>>, [global]))) =:= B),
    t:w(replace, erlang:md5(binary:replace(B, [<<10>>, <<20, 30>>], <<"....">>, [global]))),
    A = binary:copy(<<"a">>, 20000),
    t:w(aaa, {length(binary:matches(A, <<"aaa">>)), binary:match(A, <<"ab">>), length(binary:matches(A, [<<"a">>, <<"aaaa">>]))}),
    t:w(prefix, binary:longest_common_prefix([B, <<B/binary, 1>>, binary:part(B, 0, 99999)])),
    t:w(hash, {erlang:md5(B), erlang:crc32(B), erlang:adler32(B), erlang:phash2(B)}).
