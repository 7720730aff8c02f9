%% Binaries built on the way back from recursion.
-module(lang_body_recursive_binaries).
-export([main/1]).

main(_) ->
    t:w(rev, rev(<<"abcdef">>)),
    t:w(bits, bits(10)),
    t:w(tree, walk({{<<"a">>, <<"b">>}, {<<1:3>>, {<<2:5>>, <<"z">>}}})).
rev(<<>>) -> <<>>;
rev(<<C, R/binary>>) -> <<(rev(R))/binary, C>>.
bits(0) -> <<>>;
bits(N) -> <<N:N, (bits(N - 1))/bits>>.
walk({A, B}) -> <<(walk(A))/bits, (walk(B))/bits>>;
walk(B) -> B.
