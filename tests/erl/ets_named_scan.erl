%% Named tables, first and next, match with bound keys, tab2list in order.
-module(ets_named_scan).
-export([main/1]).

main(_) -> named_scan = ets:new(named_scan, [named_table, ordered_set]), ets:insert(named_scan, [{N, list_to_atom([$a + N])} || N <- lists:seq(0, 20)]), t:w(list, ets:tab2list(named_scan)), t:w(keys, keys(ets:first(named_scan))), t:w(match, [ets:match(named_scan, {5, '$1'}), ets:match(named_scan, {'$1', c}), ets:match_object(named_scan, {'_', z}), ets:match(named_scan, {'$2', '$1'}, 3) =/= [], ets:match_delete(named_scan, {'_', b}), ets:info(named_scan, size)]), t:w(foldr, ets:foldr(fun({K, _}, A) -> [K | A] end, [], named_scan)), t:w(table, [ets:member(named_scan, 3.0), ets:lookup(named_scan, 3.0), ets:lookup_element(named_scan, 4, 2)]), t:w(select3, begin {L, C} = ets:select(named_scan, [{{'$1', '_'}, [{'>', '$1', 15}], ['$1']}], 2), {L, element(1, ets:select(C))} end).
keys('$end_of_table') -> []; keys(K) -> [K | keys(ets:next(named_scan, K))].
