%% Access rights, wrong arguments, names.
-module(ets_errors).
-export([main/1]).

main(_) ->
    t:all({ets, new}, [[1, []], [t, [foo]], [t, x], [t, [{keypos, 0}]], [t, [{heir, x}]], [t, [set | x]]]),
    t:e(named, fun() -> ets:new(nm, [named_table]) end),
    t:e(named_twice, fun() -> ets:new(nm, [named_table]) end),
    t:w(whereis, {is_reference(ets:whereis(nm)), ets:whereis(nonsense)}),
    t:w(rename, {ets:rename(nm, nm2), ets:info(nm2, name), ets:info(nm)}),
    [t:e({F, A}, fun() -> apply(ets, F, A) end) || {F, A} <- [{insert, [nm2, x]}, {insert, [nm2, {}]}, {insert, [nm2, [{a}, b]]}, {insert, [nope, {a}]}, {lookup, [nope, a]}, {delete, [nope]}, {first, [nope]}, {next, [nm2, nokey]}, {tab2list, [nope]}, {match, [nope, '_']},
        {select, [nm2, foo]}, {info, [nope]}, {info, [nm2, foo]}, {setopts, [nm2, foo]}, {give_away, [nm2, x, y]}, {give_away, [nm2, self(), y]}, {safe_fixtable, [nm2, x]}, {safe_fixtable, [nope, true]}, {rename, [nm2, 1]}, {insert_new, [nm2, [a]]}, {take, [nope, x]}, {member, [nope, x]}, {lookup_element, [nm2, a, 0]}, {i, [nope, 1, 2]}]],
    Me = self(),
    Prv = ets:new(prv, [private]), Pro = ets:new(pro, [protected]), Pub = ets:new(pub, [public]),
    [ets:insert(T, {a, 1}) || T <- [Prv, Pro, Pub]],
    spawn(fun() -> Me ! {r, [{catch element(1, ets_try(fun() -> ets:lookup(T, a) end)), catch element(1, ets_try(fun() -> ets:insert(T, {b, 2}) end))} || T <- [Prv, Pro, Pub]]} end),
    receive {r, R} -> t:w(other, R) end,
    spawn(fun() -> t_err(Pro, Me) end),
    receive {e, E} -> t:w(protected, E) end,
    t:w(infos, [[ets:info(T, I) || I <- [type, protection, keypos, named_table, size, name, read_concurrency, write_concurrency, compressed, heir, decentralized_counters]] || T <- [Prv, Pub]]).
ets_try(F) -> try {ok, F()} catch C:X -> {{C, X}} end.
t_err(T, Me) -> Me ! {e, try ets:insert(T, {x}) catch error:R:S -> {R, maps:to_list(erl_stdlib_errors:format_error(R, S))} end}.
