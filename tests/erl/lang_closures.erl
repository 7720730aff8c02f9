%% Funs that capture, that are captured, and what is said about them.
-module(lang_closures).
-export([main/1]).

main(_) ->
    Adders = [fun(X) -> X + N end || N <- [1, 10, 100]],
    t:w(adders, [F(5) || F <- Adders]),
    Compose = fun(F, G) -> fun(X) -> F(G(X)) end end,
    t:w(compose, (Compose(hd(Adders), lists:last(Adders)))(0)),
    t:w(many, (many(1, 2.0, three, "four", {5}, <<6>>, #{7 => 8}))()),
    t:w(curry, ((curry(fun(A, B, C) -> {A, B, C} end))(1))(2)),
    Fac = fun F(0) -> 1; F(N) -> N * F(N - 1) end,
    t:w(fac, Fac(25)),
    t:w(info, [{element(2, erlang:fun_info(F, arity)), element(2, erlang:fun_info(F, module)), element(2, erlang:fun_info(F, type)),
        element(2, erlang:fun_info(F, env))} || F <- Adders]),
    t:w(ext, [erlang:fun_info(fun lists:map/2, K) || K <- [arity, module, name, type, env]]),
    t:w(equal, {hd(Adders) =:= hd(Adders), hd(Adders) =:= lists:last(Adders), fun t:id/1 =:= fun t:id/1, make(1) =:= make(1), make(1) =:= make(2)}),
    t:e(badarity, fun() -> (t:id(fun(X) -> X end))(1, 2) end),
    t:e(badfun, fun() -> (t:id(atom))(1) end),
    t:e(badfun2, fun() -> (t:id({lists, reverse}))([1]) end),
    t:e(undef, fun() -> (t:id(fun lists:no_such/3))(1, 2, 3) end),
    t:e(fun_info, fun() -> erlang:fun_info(t:id(x)) end),
    t:e(fun_info2, fun() -> erlang:fun_info(Fac, t:id(x)) end),
    t:e(make_fun, fun() -> (erlang:make_fun(lists, t:id(reverse), 1))([1, 2]) end),
    t:e(make_fun_bad, fun() -> erlang:make_fun(lists, t:id("x"), 1) end),
    t:w(list, erlang:fun_to_list(fun lists:map/2)),
    t:w(in_map, lists:sort(maps:values(maps:map(fun(_, F) -> F(1) end, #{a => hd(Adders), b => Fac})))),
    P = self(),
    spawn(fun() -> P ! {sent, [F(1) || F <- Adders]} end),
    receive {sent, V} -> t:w(sent, V) end.
many(A, B, C, D, E, F, G) -> fun() -> {G, F, E, D, C, B, A} end.
curry(F) -> fun(A) -> fun(B) -> fun(C) -> F(A, B, C) end end end, fun(A) -> fun(B) -> F(A, B, c) end end.
make(N) -> fun() -> N end.
