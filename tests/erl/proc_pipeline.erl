%% A pipeline of filters: the sieve with a process per prime.
-module(proc_pipeline).
-export([main/1]).

main(_) -> Me = self(), P = spawn(fun() -> first(Me) end), [P ! N || N <- lists:seq(2, 700)], P ! done, t:w(primes, collect()).
first(Me) -> receive done -> Me ! done; N -> Me ! {prime, N}, filter(N, spawn(fun() -> first(Me) end)) end.
filter(P, Next) -> receive done -> Next ! done; N when N rem P =:= 0 -> filter(P, Next); N -> Next ! N, filter(P, Next) end.
collect() -> collect([]).
collect(A) -> receive {prime, N} -> collect([N | A]); done -> lists:sort(A) end.
