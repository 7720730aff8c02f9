%% A function with many clauses, arguments and variables made by forms, compiled and run.
-module(big_large_function).
-export([main/1]).

main(_) ->
    V = fun(N) -> {var, 1, list_to_atom("V" ++ integer_to_list(N))} end,
    Sum = lists:foldl(fun(N, A) -> {op, 1, '+', A, V(N)} end, {integer, 1, 0}, lists:seq(1, 200)),
    Fs = [{attribute, 1, module, lf}, {attribute, 1, export, [{f, 1}, {g, 1}]},
          {function, 1, f, 1, [{clause, 1, [lists:foldr(fun(N, T) -> {cons, 1, V(N), T} end, {nil, 1}, lists:seq(1, 200))], [], [Sum]}]},
          {function, 2, g, 1, [{clause, 2, [{integer, 2, N}], [], [{tuple, 2, [{integer, 2, N * N}, {atom, 2, list_to_atom("a" ++ integer_to_list(N))}]}]} || N <- lists:seq(1, 1000)]}],
    {ok, lf, B} = compile:forms(Fs), {module, lf} = code:load_binary(lf, "lf", B),
    t:w(f, lf:f(lists:seq(1, 200))), t:w(g, [lf:g(N) || N <- [1, 500, 1000]]), t:e(none, fun() -> lf:g(1001) end), code:delete(lf), code:purge(lf).
