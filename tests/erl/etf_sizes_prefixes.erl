%% Every proper prefix of an encoded term is refused.
-module(etf_sizes_prefixes).
-export([main/1]).

main(_) ->
    B = term_to_binary({1, -1, 1.5, atom, "string", [a, 300 | b], <<"bin">>, <<1:3>>, #{k => 1 bsl 70}, fun lists:map/2}),
    t:w(size, byte_size(B)),
    t:w(refused, [N || N <- lists:seq(0, byte_size(B) - 1), try binary_to_term(binary:part(B, 0, N)), true catch error:badarg -> false end]),
    t:w(whole, binary_to_term(B) =:= {1, -1, 1.5, atom, "string", [a, 300 | b], <<"bin">>, <<1:3>>, #{k => 1 bsl 70}, fun lists:map/2}).
