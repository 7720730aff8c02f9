%% Calls, guards, a stack that grows.
-module(boot_fib).
-export([main/1]).

main(_) -> erlang:display(fib(22)), erlang:display(depth(50000)), erlang:display(loop(200000, 0)).
fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).
depth(0) -> 0;
depth(N) -> 1 + depth(N - 1).
loop(0, A) -> A;
loop(N, A) -> loop(N - 1, A + N).
