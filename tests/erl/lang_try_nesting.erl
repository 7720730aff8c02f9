%% try, catch, of and after inside one another; what each of them lets through.
-module(lang_try_nesting).
-export([main/1]).

main(_) ->
    t:w(order, trace(fun() -> try note(a), throw(x) catch throw:x -> note(b) after note(c) end end)),
    t:w(after_twice, trace(fun() -> try try note(1), error(e) after note(2) end catch error:e -> note(3) after note(4) end end)),
    t:w(rethrow, trace(fun() -> try try throw(a) catch throw:a -> note(inner), throw(b) after note(fin) end catch throw:R -> note(R) end end)),
    t:w(after_raises, trace(fun() -> try try throw(a) after throw(b) end catch throw:R -> note(R) end end)),
    t:w(of_not_protected, trace(fun() -> try try 1 of 1 -> throw(out) catch throw:_ -> note(wrong) end catch throw:out -> note(right) end end)),
    t:w(value, try t:id(5) of 5 -> five catch _:_ -> no end),
    t:w(after_value, try t:id(v) after t:id(ignored) end),
    t:e(try_clause, fun() -> try t:id(1) of 2 -> ok catch _:_ -> caught end end),
    t:e(class_unmatched, fun() -> try exit(t:id(q)) catch throw:_ -> no; error:_ -> no end end),
    t:w(old_catch, [catch t:id(1), catch throw(t), catch exit(x)]),
    t:w(old_catch_error, begin {'EXIT', {R1, [{M, F, A, _} | _]}} = (catch error(bang)), {R1, M, F, A} end),
    t:w(catch_nested, (catch {in, catch throw(a), catch throw(b)})),
    t:w(catch_in_args, {catch throw(1), 2, catch throw(3)}),
    t:w(guards_on_reason, [try throw(X) catch throw:N when is_integer(N), N > 5 -> big; throw:N when N < 3 -> small; throw:_ -> other end || X <- [1, 4, 9, a]]),
    t:w(class_var, [try erlang:raise(C, r, []) catch K:V -> {K, V} end || C <- [throw, error, exit]]),
    t:w(raise_bad, erlang:raise(t:id(foo), r, [])),
    t:w(deep, deep(300)),
    t:w(live, live(1, 2, 3)),
    t:w(loop, loop(2000, 0)),
    t:e(stack_kept, fun() -> try error(first) catch C:R:S -> erlang:raise(C, {R, again}, S) end end).
note(X) -> put(notes, [X | get(notes)]), X.
trace(F) -> put(notes, []), V = F(), {V, lists:reverse(erase(notes))}.
deep(0) -> throw(bottom);
deep(N) -> try deep(N - 1) catch throw:bottom when N =:= 300 -> {reached, N}; error:never -> no end.
live(A, B, C) -> D = [A, B], try t:id(throw({D, C})) catch throw:{D, X} -> {A, B, X, D} after t:id(D) end.
loop(0, A) -> A;
loop(N, A) -> B = try if N rem 3 =:= 0 -> throw(N); true -> N * 2 end catch throw:X -> -X end, loop(N - 1, A + B).
