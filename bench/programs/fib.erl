%% Naive Fibonacci: calls and small arithmetic.
-module(fib).
-export([main/1, group/0]).

group() -> compute.

main(_) -> bench:time(?MODULE, fun() -> fib(34) end).

fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).
