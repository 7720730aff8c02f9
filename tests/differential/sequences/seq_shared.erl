%% Values that processes share: persistent terms, atomics, counters.
-module(seq_shared).
-export([step/0, init/0, run/3, done/1]).

init() -> #{atomics => atomics:new(5, []), unsigned => atomics:new(5, [{signed, false}]), counters => counters:new(5, []), spread => counters:new(5, [write_concurrency])}.
done(_) -> [persistent_term:erase(K) || {{?MODULE, _} = K, _} <- persistent_term:get()], ok.

step() ->
    At = seq_value:one({1, 2, 3, 4, 5, 5, 6, 0}),
    case seq_value:below(4) of
        0 -> {{persistent, seq_value:one({put, put, put, 'get', erase, all, put_new})}, [seq_value:below(seq_value:one({5, 40})), seq_value:arg(any)], any};
        1 -> {{atomics, seq_value:one({add, add_get, sub, sub_get, put, exchange})}, [seq_value:one({atomics, unsigned}), At, seq_value:arg(int)], int};
        2 -> {{atomics, seq_value:one({'get', compare_exchange, info})}, [seq_value:one({atomics, unsigned}), At, seq_value:arg(int), seq_value:arg(int)], int};
        3 -> {{counters, seq_value:one({add, sub, put, 'get'})}, [seq_value:one({counters, spread}), At, seq_value:arg(int)], int}
    end.

run({persistent, put}, [K, V], S) -> {{persistent_term:put({?MODULE, K}, V), persistent_term:get({?MODULE, K}) =:= V}, S};
run({persistent, put_new}, [K, V], S) -> {persistent_term:put_new({?MODULE, K}, V), S};
run({persistent, 'get'}, [K, V], S) -> {persistent_term:get({?MODULE, K}, V), S};
run({persistent, erase}, [K, _], S) -> {persistent_term:erase({?MODULE, K}), S};
run({persistent, all}, _, S) -> {seq_value:sorted([P || {{?MODULE, _}, _} = P <- persistent_term:get()]), S};
run({atomics, 'get'}, [R, At, _, _], S) -> {atomics:get(map_get(R, S), At), S};
run({atomics, info}, [R, _, _, _], S) -> {maps:remove(memory, atomics:info(map_get(R, S))), S};
run({atomics, compare_exchange}, [R, At, A, B], S) -> {atomics:compare_exchange(map_get(R, S), At, A, B), S};
run({atomics, F}, [R, At, V], S) -> {atomics:F(map_get(R, S), At, V), S};
run({counters, 'get'}, [R, At, _], S) -> {counters:get(map_get(R, S), At), S};
run({counters, F}, [R, At, V], S) -> {{counters:F(map_get(R, S), At, V), counters:get(map_get(R, S), At)}, S}.
