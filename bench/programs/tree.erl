%% Insertion into an unbalanced binary tree of tuples.
-module(tree).
-export([main/1, group/0]).

group() -> compute.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    size_of(lists:foldl(fun insert/2, nil, [N * 7919 rem 100003 || N <- lists:seq(1, 60000)])).

insert(X, nil) -> {X, nil, nil};
insert(X, {Y, L, R}) when X < Y -> {Y, insert(X, L), R};
insert(X, {Y, L, R}) when X > Y -> {Y, L, insert(X, R)};
insert(_, T) -> T.

size_of(nil) -> 0;
size_of({_, L, R}) -> 1 + size_of(L) + size_of(R).
