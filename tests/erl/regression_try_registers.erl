%% Values live across try and receive, on every path.
-module(regression_try_registers).
-export([main/1]).

main(_) -> [t:w(X, f(X, {kept, X})) || X <- [ok, throw, error, exit, recv, timeout]].
f(K, V) -> A = t:id([V]), B = t:id(1.5), R = try step(K) of X -> {of_, X, A} catch throw:T -> garbage_collect(), {thrown, T, A, B}; C:E -> {C, E, V} after put(f, A) end, S = receive {m, M} -> {M, R} after 0 -> {none, R} end, {S, A, B, erase(f)}.
step(ok) -> 1; step(throw) -> throw(t); step(error) -> error(e); step(exit) -> exit(x); step(recv) -> self() ! {m, got}, 2; step(timeout) -> receive never -> ok after 1 -> late end.
