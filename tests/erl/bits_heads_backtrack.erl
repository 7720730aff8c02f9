%% Clauses that share a prefix of a binary and go back after a failed field.
-module(bits_heads_backtrack).
-export([main/1]).

main(_) -> t:w(f, [f(B) || B <- [<<1, 2, 3>>, <<1, 2>>, <<1, 3, 3>>, <<1, 2, 4, 5>>, <<>>, <<1>>, <<2:4>>, <<1, 2, 3:4>>, <<"GET /x HTTP">>, <<"GET">>, <<"POST a">>]]), t:w(count, lines(<<"a\nbb\r\nccc\n\nd">>, <<>>, [])).
f(<<1, 2, 3>>) -> one23; f(<<1, 2, X, Y>>) when X > Y -> gt; f(<<1, 2, R/binary>>) -> {r12, R}; f(<<1, X:16>>) -> {w, X}; f(<<1, X:12, R/bits>>) -> {x12, X, R}; f(<<"GET ", P, _/binary>>) -> {get, P}; f(<<"GET", _/binary>>) -> get; f(<<"POST ", R/bits>>) -> {post, R}; f(<<X:4>>) -> {n, X}; f(<<X, _/bits>>) -> {b, X}; f(<<>>) -> e.
lines(<<"\r\n", R/binary>>, L, A) -> lines(R, <<>>, [L | A]); lines(<<"\n", R/binary>>, L, A) -> lines(R, <<>>, [L | A]); lines(<<C, R/binary>>, L, A) -> lines(R, <<L/binary, C>>, A); lines(<<>>, L, A) -> lists:reverse([L | A]).
