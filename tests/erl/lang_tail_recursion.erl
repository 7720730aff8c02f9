%% Loops that must not grow the stack: calls in tail position in all the places there are.
-module(lang_tail_recursion).
-export([main/1]).

main(_) ->
    t:w(count, count(1000000)),
    t:w(mutual, even(500000)),
    t:w(case_, in_case(300000, 0)),
    t:w(fun_, (fun L(0) -> done; L(N) -> L(N - 1) end)(300000)),
    t:w(apply, by_apply(200000)),
    t:w(args, many(200000, a, b, c, d, e, f)),
    {total_heap_size, S} = process_info(self(), total_heap_size),
    t:w(small, S < 3000000).
count(0) -> done;
count(N) -> count(N - 1).
even(0) -> true;
even(N) -> odd(N - 1).
odd(0) -> false;
odd(N) -> even(N - 1).
in_case(0, A) -> A;
in_case(N, A) -> case N rem 3 of 0 -> in_case(N - 1, A + 1); 1 -> if N > 10 -> in_case(N - 1, A); true -> in_case(N - 1, A + 2) end; _ -> begin _ = N, in_case(N - 1, A) end end.
by_apply(0) -> done;
by_apply(N) -> M = t:id(fun(X) -> by_apply2(X) end), M(N - 1).
by_apply2(0) -> done2;
by_apply2(N) -> by_apply(N - 1).
many(0, A, B, C, D, E, F) -> {A, B, C, D, E, F};
many(N, A, B, C, D, E, F) -> many(N - 1, F, A, B, C, D, E).
