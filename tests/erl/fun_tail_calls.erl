%% A fun called last leaves no frame: loops through funs run in constant memory, and stack traces show it.
-module(fun_tail_calls).
-export([main/1]).

main(_) ->
    Loop = fun(_, 0) -> element(2, process_info(self(), total_heap_size)) < 100000;
              (F, N) -> G = identity(F), step(G, N) end,
    io:format("~p~n", [Loop(Loop, 200000)]),
    Bad = [fun(_, _) -> 1 end, foo, fun erlang:'+'/2, fun lists:nofun/1, fun erlang:hd/1],
    [io:format("~0p~n", [try {x, inner(F, x)} catch _:R:S -> {R, S} end]) || F <- Bad],
    [io:format("~0p~n", [try [apply(F, [x])] catch _:R:S -> {R, S} end]) || F <- Bad],
    [io:format("~0p~n", [try [apply(F, zero())] catch _:R:S -> {R, S} end]) || F <- Bad],
    [io:format("~0p~n", [try {x, last(F, x)} catch _:R:S -> {R, S} end]) || F <- Bad],
    [io:format("~0p~n", [try lists:foldr(F, 0, L) catch _:R:S -> {R, S} end])
     || F <- [fun(_, _) -> 1 / zero() end, fun lists:append/2], L <- [[a], [a, b], [a, b, c]]],
    ok.

step(F, N) -> F(F, identity(N) - 1).

identity(X) -> X.

inner(F, A) -> [F(A)].

last(F, A) -> G = identity(F), G(A).

zero() -> 0.
