%% Large process dictionaries: inserting and erasing, immediate and compound keys, against a map; and many keys in time.
-module(dictionary_churn).
-export([main/1]).

main(_) ->
    Map = churn(30000, 1, #{}),
    Same = lists:sort(maps:to_list(Map)) =:= lists:sort([E || {K, _} = E <- get(), is_key(K)]),
    io:format("~p ~p~n", [maps:size(Map), Same]),
    garbage_collect(),
    io:format("~p~n", [lists:all(fun({K, V}) -> get(K) =:= V end, maps:to_list(Map))]),
    [erase(K) || K <- maps:keys(Map)],
    io:format("~p~n", [[E || {K, _} = E <- get(), is_key(K)]]),
    Many = lists:seq(1, 20000),
    [put({key, N}, N) || N <- Many],
    Sum = lists:sum([erase({key, N}) || N <- Many]),
    io:format("~p ~p~n", [Sum, [E || {K, _} = E <- get(), is_key(K)]]),
    ok.

is_key({key, _}) -> true;
is_key(K) -> is_integer(K).

churn(0, _, Map) ->
    Map;
churn(N, Seed, Map) ->
    Next = (Seed * 1103515245 + 12345) band 16#7fffffff,
    Number = (Next bsr 8) rem 700,
    Key = case Number rem 3 of 0 -> {key, [Number]}; _ -> Number end,
    Before = maps:get(Key, Map, undefined),
    case (Next bsr 20) band 1 of
        0 ->
            Before = put(Key, N),
            churn(N - 1, Next, Map#{Key => N});
        1 ->
            Before = erase(Key),
            churn(N - 1, Next, maps:remove(Key, Map))
    end.
