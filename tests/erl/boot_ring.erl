%% A message through a thousand processes.
-module(boot_ring).
-export([main/1]).

main(_) ->
    Me = self(),
    First = build(1000, Me),
    First ! 0,
    receive N -> erlang:display(N) end.
build(0, Next) -> Next;
build(N, Next) -> build(N - 1, spawn(fun() -> receive X -> Next ! X + 1 end end)).
