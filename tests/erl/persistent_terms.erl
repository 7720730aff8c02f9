%% persistent_term: values that survive replacement and erasure.
-module(persistent_terms).
-export([main/1]).

main(_) ->
    K = {?MODULE, key},
    t:w(put, [persistent_term:put(K, 1), persistent_term:get(K), persistent_term:put(K, {big, lists:seq(1, 100)}), element(1, persistent_term:get(K))]),
    t:w(default, persistent_term:get({?MODULE, none}, dflt)),
    t:e(missing, fun() -> persistent_term:get({?MODULE, none}) end),
    Old = persistent_term:get(K),
    persistent_term:put(K, #{new => value}),
    garbage_collect(),
    t:w(old_alive, {element(1, Old), length(element(2, Old)), persistent_term:get(K)}),
    Me = self(), spawn(fun() -> Me ! {v, persistent_term:get(K)} end),
    t:w(other, receive {v, V} -> V end),
    t:w(erase, [persistent_term:erase(K), persistent_term:erase(K), persistent_term:get(K, gone)]),
    t:w(still, length(element(2, Old))),
    [persistent_term:put({?MODULE, N}, {N, <<N:800>>}) || N <- lists:seq(1, 200)],
    t:w(many, lists:sum([element(1, persistent_term:get({?MODULE, N})) || N <- lists:seq(1, 200)])),
    [persistent_term:erase({?MODULE, N}) || N <- lists:seq(1, 200)],
    t:w(info, lists:sort(maps:keys(persistent_term:info()))),
    t:w(listed, [X || {{?MODULE, X}, _} <- persistent_term:get()]),
    persistent_term:erase({?MODULE, p}).
