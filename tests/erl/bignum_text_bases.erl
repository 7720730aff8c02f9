%% Large integers to text and back in all bases, with every length around word boundaries.
-module(bignum_text_bases).
-export([main/1]).

main(_) -> Ns = [(1 bsl B) + D || B <- lists:seq(56, 200, 4), D <- [-1, 0, 1]], t:w(back, [B || B <- lists:seq(2, 36), N <- Ns, list_to_integer(integer_to_list(N, B), B) =/= N]), t:w(neg, [N || N <- Ns, list_to_integer(integer_to_list(-N)) =/= -N]), t:w(sum, t:sum([integer_to_binary(N, 7) || N <- Ns])), t:w(fmt, t:sum([io_lib:format("~.3b ~w ~p ~.16B", [N, N, N, N]) || N <- Ns])), t:w(lead, list_to_integer(lists:duplicate(500, $0) ++ "7")), t:w(random, erlang:phash2(lists:foldl(fun(N, A) -> (A * 6364136223846793005 + N) rem (1 bsl 512) end, 1, lists:seq(1, 1000)))).
