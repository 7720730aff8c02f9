%% Natives that may take long, interrupted by others: results whole, messages in between.
-module(regression_yield_natives).
-export([main/1]).

main(_) -> Me = self(), T = spawn(fun() -> tick(Me, 0) end), L = lists:seq(1, 40000), t:w(results, [length(L ++ L), erlang:phash2(lists:reverse(L)), length(L -- lists:seq(1, 1000)), byte_size(term_to_binary(L)), length(binary_to_term(term_to_binary(L))), byte_size(list_to_binary([X rem 256 || X <- L])), erlang:phash2(L), lists:member(39999, L), byte_size(binary:copy(<<1, 2>>, 500000)), length(binary_to_list(binary:copy(<<7>>, 300000))), erlang:crc32(binary:copy(<<7>>, 1000000)), length(atom_to_list(a) ++ L), tuple_size(list_to_tuple(L)), length(tuple_to_list(list_to_tuple(L))), length(unicode:characters_to_list(binary:copy(<<"é"/utf8>>, 50000))), maps:size(maps:from_list([{X, X} || X <- L]))]), T ! stop, t:w(ticked, receive {ticks, N} -> N > 0 end).
tick(P, N) -> receive stop -> P ! {ticks, N + 1} after 1 -> tick(P, N + 1) end.
