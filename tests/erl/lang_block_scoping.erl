%% Variables bound in branches and blocks, and shadowed in funs and comprehensions.
-module(lang_block_scoping).
-export([main/1]).

main(_) ->
    X = t:id(1),
    Y = case X of 1 -> Z = a, {Z, X}; _ -> Z = b, Z end,
    t:w(exported, {Y, Z}),
    t:w(fun_shadow, (fun(X) -> X * 2 end)(21)),
    t:w(lc_shadow, [X || X <- [5, 6]]),
    t:w(after_, X),
    t:w(blocks, begin A = 1, B = begin A + 1 end, A + B end),
    t:w(if_, begin if X > 0 -> C = pos; true -> C = neg end, C end).
