%% What a process that fails leaves behind: exit reasons with stack traces, seen from outside.
-module(proc_exceptions).
-export([main/1]).

main(_) ->
    Fs = [{badmatch, fun() -> {a, _} = t:id(b) end}, {badarith, fun() -> 1 + t:id(x) end}, {case_clause, fun() -> case t:id(1) of 2 -> ok end end}, {undef, fun() -> no_mod:no_fun(1, 2) end},
        {badarg, fun() -> atom_to_list(t:id(1)) end}, {function_clause, fun() -> f(t:id(2)) end}, {nocatch, fun() -> throw(ball) end}, {exit, fun() -> exit({some, reason}) end}, {badfun, fun() -> (t:id(1))() end},
        {badarity, fun() -> (t:id(fun(X) -> X end))() end}, {if_clause, fun() -> X = t:id(1), if X > 2 -> ok end end}, {try_clause, fun() -> try t:id(1) of 2 -> ok after ok end end}, {error3, fun() -> erlang:error(r, [a1], [{error_info, #{}}]) end},
        {badkey, fun() -> map_get(k, t:id(#{})) end}, {badmap, fun() -> (t:id(x))#{a => 1} end}, {timeout_value, fun() -> receive after t:id(x) -> ok end end}, {badrecord, fun() -> element(t:id(5), {1}) end}, {deep, fun() -> g(10) end}, {system_limit, fun() -> list_to_atom(lists:duplicate(300, $a)) end}],
    [begin {P, M} = spawn_monitor(F), receive {'DOWN', M, _, P, R} -> t:w(N, strip(R)) end end || {N, F} <- Fs].
f(1) -> one.
g(0) -> error({bottom, [1, 2]});
g(N) -> X = g(N - 1), [X].
strip({R, [{_, _, _, _} | _] = S}) -> {R, [{M, F, if is_list(A) -> A; true -> {arity, A} end, proplists:get_value(line, L)} || {M, F, A, L} <- S]};
strip(R) -> R.
