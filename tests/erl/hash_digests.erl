%% md5 in pieces, crc32, adler32 and their combinations.
-module(hash_digests).
-export([main/1]).

main(_) ->
    Bs = [<<>>, <<"a">>, <<"abc">>, <<"message digest">>, binary:copy(<<"1234567890">>, 8), binary:copy(<<0>>, 1000), ["io", [<<"list">>, $!]]],
    [t:w(md5, {binary:encode_hex(erlang:md5(B)), erlang:crc32(B), erlang:adler32(B)}) || B <- Bs],
    t:w(pieces, binary:encode_hex(erlang:md5_final(lists:foldl(fun(X, C) -> erlang:md5_update(C, X) end, erlang:md5_init(), [<<"mes">>, "sage", <<" digest">>])))),
    t:w(combine, {erlang:crc32_combine(erlang:crc32(<<"ab">>), erlang:crc32(<<"cd">>), 2) =:= erlang:crc32(<<"abcd">>), erlang:adler32_combine(erlang:adler32(<<"ab">>), erlang:adler32(<<"cd">>), 2) =:= erlang:adler32(<<"abcd">>)}),
    t:w(seeded, {erlang:crc32(erlang:crc32(<<"ab">>), <<"cd">>) =:= erlang:crc32(<<"abcd">>), erlang:adler32(1, <<"x">>)}),
    t:w(odd, begin <<_:3, S/bits>> = <<0:3, "abc">>, {erlang:md5(S) =:= erlang:md5(<<"abc">>), erlang:crc32(S) =:= erlang:crc32(<<"abc">>)} end),
    t:e(bad, fun() -> erlang:md5(t:id(a)) end), t:e(bits, fun() -> erlang:crc32(<<1:3>>) end), t:e(update, fun() -> erlang:md5_update(<<1>>, <<2>>) end).
