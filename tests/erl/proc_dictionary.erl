%% The process dictionary: values, keys, erase, many entries, not inherited.
-module(proc_dictionary).
-export([main/1]).

main(_) ->
    erase(),
    t:w(first, {put(a, 1), put(a, 2), get(a), get(nope)}),
    t:w(keys, [put(K, V) || {K, V} <- [{1, int}, {1.0, float}, {{t}, tuple}, {"s", list}, {<<1>>, bin}, {#{}, map}, {1 bsl 80, big}]]),
    t:w(lookup, [get(K) || K <- [1, 1.0, {t}, "s", <<1>>, #{}, 1 bsl 80]]),
    t:w(all, lists:sort(get())),
    t:w(get_keys, {lists:sort(get_keys()), get_keys(int), get_keys(none)}),
    t:w(erase, {erase(1), erase(1), length(get())}),
    t:w(erase_all, {length(erase()), get(), get_keys()}),
    [put({k, N}, N) || N <- lists:seq(1, 3000)],
    t:w(many, {length(get()), lists:sum([get({k, N}) || N <- lists:seq(1, 3000)])}),
    [erase({k, N}) || N <- lists:seq(1, 3000, 2)],
    t:w(half, {length(get()), get({k, 1}), get({k, 2}), lists:sum([V || {{k, _}, V} <- get()])}),
    [put({k, N}, {new, N}) || N <- lists:seq(1, 10)],
    garbage_collect(),
    t:w(values, [get({k, N}) || N <- lists:seq(1, 12)]),
    t:w(info, length(element(2, process_info(self(), dictionary)))),
    t:w(info_key, process_info(self(), {dictionary, {k, 2}})),
    P = self(),
    spawn(fun() -> P ! {theirs, get({k, 2}), [K || {K, _} <- get(), K =/= '$initial_call']} end),
    t:w(inherited, receive {theirs, A, B} -> {A, B} end),
    erase().
