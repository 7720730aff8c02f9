%% Display of every kind of immediate and boxed term.
-module(boot_terms).
-export([main/1]).

main(_) ->
    [erlang:display(T) || T <- [0, -1, 42, 1 bsl 59, -(1 bsl 59), 1 bsl 60, 1 bsl 64, -(1 bsl 200), a, 'an atom', [], [1, 2, 3],
        [a | b], {}, {1, {2}, [3]}, #{}, #{a => 1}, <<>>, <<1, 2, 3>>, "text", 1.5, -0.25]],
    ok.
