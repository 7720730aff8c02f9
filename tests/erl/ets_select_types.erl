%% select on keys of every type, bound and unbound, in set and ordered_set.
-module(ets_select_types).
-export([main/1]).

main(_) ->
    Ks = [1, -1, 1 bsl 70, 2.5, a, "str", {t, 1}, <<"b">>, <<1:3>>, #{k => 1}, [], {}],
    [begin
         T = ets:new(t, [Ty]),
         ets:insert(T, [{K, N} || {N, K} <- lists:enumerate(Ks)]),
         t:w(Ty, [ets:select(T, [{{K, '$1'}, [], ['$1']}]) || K <- Ks]),
         t:w(const, [ets:select(T, [{{'$1', '$2'}, [{'=:=', '$1', {const, K}}], ['$2']}]) || K <- Ks]),
         t:w(types, [lists:sort(ets:select(T, [{{'$1', '$2'}, [{G, '$1'}], ['$2']}])) || G <- [is_integer, is_float, is_atom, is_list, is_tuple, is_binary, is_map, is_number]]),
         t:w(deleted, [ets:take(T, K) =/= [] || K <- Ks] ++ [ets:info(T, size)])
     end || Ty <- [set, ordered_set]],
    ok.
