%% integer, float, atom and pid text through iolists and concatenation.
-module(bif_split_join_text).
-export([main/1]).

main(_) -> t:w(concat, lists:concat([a, 1, 2.5, "s"])), t:w(fmt, iolist_to_binary([integer_to_binary(N) || N <- lists:seq(1, 50)])), t:w(dup, lists:flatten([atom_to_list(X) || X <- [a, 'B c', true]])), t:w(bin_int, [binary_to_integer(integer_to_binary(N)) =:= N || N <- [0, -1, 1 bsl 64, -(1 bsl 99)]]), t:w(term_text, [begin {ok, T, _} = erl_scan:string(lists:flatten(io_lib:format("~w.", [X]))), {ok, Y} = erl_parse:parse_term(T), Y =:= X end || X <- [1, -2.5, [a, "b"], {'C d', #{1 => 2}}, <<1, 2>>, <<3:2>>, 1 bsl 80]]).
