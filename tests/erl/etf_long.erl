%% Terms that are encoded in several ways because of their length: lists with all kinds of beginnings and ends, nesting, and more bytes than a
%% scheduler encodes at one go.
-module(etf_long).
-export([main/1]).

main(_) ->
    [t:w({Name, N}, said(term(Name, N))) || Name <- [bytes, words, bigs, mixed, improper, improper_bytes, nested, deep_tuple, tuples, maps, texts, binaries, wide],
                                            N <- [1, 2, 15, 16, 17, 1024, 1025]],
    [t:w({Name, N}, said(term(Name, N))) || Name <- [bytes, improper_bytes], N <- [65535, 65536]],
    [t:w({Name, N}, said(term(Name, N))) || Name <- [bytes, words, improper, wide], N <- [200000]],
    [t:w({Name, N}, said(term(Name, N))) || Name <- [nested, tuples, mixed], N <- [40000]],
    t:w(in_deep, said(lists:foldl(fun(_, A) -> {A} end, term(words, 70000), lists:seq(1, 40)))),
    t:w(large_binary, said([binary:copy(<<"abcdefgh">>, 200000), x])).

said(T) ->
    B = term_to_binary(T),
    {byte_size(B), erlang:external_size(T) =:= byte_size(B), erlang:md5(B), iolist_to_binary(term_to_iovec(T)) =:= B, binary_to_term(B) =:= T}.

term(bytes, N) -> [I band 255 || I <- lists:seq(1, N)];
term(words, N) -> lists:seq(300, 300 + N);
term(bigs, N) -> [I bsl 33 || I <- lists:seq(-1, N)];
term(mixed, N) -> [element(1 + I rem 7, {I, a, I * 1.5, <<I:32>>, [], I bsl 40, {I}}) || I <- lists:seq(1, N)];
term(improper, N) -> lists:seq(1, N) ++ tail;
term(improper_bytes, N) -> lists:duplicate(N, $a) ++ <<"tail">>;
term(nested, N) -> lists:foldl(fun(I, A) -> [I, A] end, [], lists:seq(1, N));
term(deep_tuple, N) -> lists:foldl(fun(I, A) -> {I, A} end, [], lists:seq(1, N));
term(tuples, N) -> [{I, [I, "text"]} || I <- lists:seq(1, N)];
term(maps, N) -> [#{a => I, {b} => [I]} || I <- lists:seq(1, N div 4)];
term(texts, N) -> [integer_to_list(I) || I <- lists:seq(1, N div 2)] ++ ["", [256]];
term(binaries, N) -> [<<I:(I rem 900)>> || I <- lists:seq(1, N div 8)];
term(wide, N) -> list_to_tuple(lists:seq(1, N)).
