%% Generators with fixed seeds give fixed numbers.
-module(rand_seeded).
-export([main/1]).

main(_) ->
    [begin rand:seed(A, {1, 2, 3}), t:w(A, {[rand:uniform(1000) || _ <- lists:seq(1, 10)], [rand:uniform() || _ <- [1, 2, 3]], rand:uniform(1 bsl 70), float_to_list(rand:normal(), [{decimals, 8}])}) end || A <- [exsss, exro928ss, exrop, exs1024s, exsp, mwc59 | []], A =/= mwc59],
    S0 = rand:seed_s(exsss, 42), {X, S1} = rand:uniform_s(100, S0), {Y, S2} = rand:uniform_s(S1), t:w(functional, {X, Y, element(1, rand:uniform_s(10, rand:jump(S2)))}), t:w(bytes, begin rand:seed(exsss, 7), rand:bytes(10) end), t:w(mwc, begin C = rand:mwc59_seed(5), rand:mwc59(C) end), t:w(splitmix, element(1, rand:splitmix64_next(1))), t:w(range, lists:all(fun(_) -> V = rand:uniform(6), V >= 1 andalso V =< 6 end, lists:seq(1, 1000))), t:w(export, begin E = rand:export_seed_s(S0), {rand:uniform_s(1000, rand:seed_s(E)) =:= rand:uniform_s(1000, S0)} end), t:e(bad, fun() -> rand:uniform(0) end).
