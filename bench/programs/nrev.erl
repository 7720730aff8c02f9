%% Naive reverse: list cells made and dropped.
-module(nrev).
-export([main/1, group/0]).

group() -> compute.

main(_) -> bench:time(?MODULE, fun() -> loop(300, lists:seq(1, 500)) end).

loop(1, L) -> hd(nrev(L));
loop(N, L) -> nrev(L), loop(N - 1, L).

nrev([]) -> [];
nrev([H | T]) -> app(nrev(T), [H]).

app([], L) -> L;
app([H | T], L) -> [H | app(T, L)].
