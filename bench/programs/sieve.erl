%% Primes by filtering lists.
-module(sieve).
-export([main/1, group/0]).

group() -> compute.

main(_) -> bench:time(?MODULE, fun() -> length(sieve(lists:seq(2, 50000))) end).

sieve([]) -> [];
sieve([P | L]) -> [P | sieve([X || X <- L, X rem P =/= 0])].
