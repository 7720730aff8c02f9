%% Frames of stack traces: module, function, arity and line; in functions, funs, comprehensions and natives.
-module(lang_stacktraces).
-export([main/1]).

main(_) ->
    show(direct, fun() -> outer(1) end),
    show(tail, fun() -> tail(1) end),
    show(bif, fun() -> X = lists_bad(), [X] end),
    show(arith, fun() -> X = plus(t:id(a), 1), [X] end),
    show(comp, fun() -> [inner(Y) || Y <- [1]] end),
    show(map, fun() -> X = lists:map(fun(Y) -> Z = 1 / Y, Z + 1 end, [0]), [X] end),
    show(clause, fun() -> X = only_one(2), [X] end),
    show(apply, fun() -> X = apply(?MODULE, nothing, [1]), [X] end),
    show(error2, fun() -> X = with_args(1, 2), [X] end),
    show(try_kept, fun() -> X = (try inner(1) catch error:_ -> inner(2) end), [X] end),
    show(recursion, fun() -> down(3) end),
    show(many, fun() -> down(30) end),
    show(binary, fun() -> X = construct(t:id(a)), [X] end).
outer(X) -> Y = inner(X), {Y}.
inner(X) -> error({inner, X}).
tail(X) -> inner(X).
lists_bad() -> Z = lists:nth(5, t:id([1])), {Z}.
plus(A, B) -> C = A + B, {C}.
only_one(1) -> ok.
with_args(A, B) -> error(my_reason, [A, B]).
down(0) -> error(bottom);
down(N) -> [down(N - 1)].
construct(X) -> B = <<1, X:8>>, {B}.
show(Name, F) ->
    try F() catch error:R:S ->
        Own = [{Fn, A, proplists:get_value(line, L)} || {M, Fn, A, L} <- S, M =:= ?MODULE],
        {M1, F1, A1, _} = hd(S),
        t:w(Name, {R, {M1, F1, if is_list(A1) -> length(A1); true -> A1 end}, Own})
    end.
