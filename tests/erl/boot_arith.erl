%% Integer arithmetic on small numbers and where they become large.
-module(boot_arith).
-export([main/1]).

main(_) ->
    [D | _] = [X || X <- [7], X > 0],
    show([D + 1, D - 8, D * -3, D div 2, -D div 2, D rem 3, -D rem 3, D band 3, D bor 8, D bxor 5, bnot D, D bsl 70, D bsr 1,
          -D bsr 1, -1 bsr 100, (1 bsl 59) - 1 + D, -(1 bsl 59) - D, (D bsl 80) - (D bsl 80), abs(-D), -(-(1 bsl 59) - 1 + 7 - D)]).
show(L) -> [erlang:display(X) || X <- L], ok.
