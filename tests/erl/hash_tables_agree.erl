%% Equal terms made in different ways hash, compare and look up alike.
-module(hash_tables_agree).
-export([main/1]).

main(_) ->
    Pairs = [{[1, 2], [1 | [2]]}, {<<"ab">>, list_to_binary("ab")}, {1 bsl 70, (1 bsl 71) div 2}, {"é", [233]}, {#{a => 1, b => 2}, maps:put(b, 2, #{a => 1})}, {{1, [2]}, list_to_tuple([1, tl([x, 2])])}, {1.5, 3 / 2}, {abc, list_to_atom("abc")}, {<<5:3>>, << <<B:1>> || B <- [1, 0, 1] >>}],
    t:w(same, [{A =:= t:id(B), erlang:phash2(A) =:= erlang:phash2(B), maps:get(B, #{A => found}), term_to_binary(A) =:= term_to_binary(B)} || {A, B} <- Pairs]),
    T = ets:new(t, []), [ets:insert(T, {A}) || {A, _} <- Pairs], t:w(ets, [ets:member(T, B) || {_, B} <- Pairs]),
    t:w(hashes, [erlang:phash2(A) || {A, _} <- Pairs]).
