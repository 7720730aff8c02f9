%% Stack traces that a handler asks for late, again, or not at all: they are the same as if they were made when the exception was raised.
-module(error_trace_rest).
-export([main/1]).

main(_) ->
    [io:format("~p ~p~n", [Name, try F(t:id(3)) catch C:R:S -> {C, R, short(S)} end])
     || {Name, F} <- [{late, fun late/1}, {nested, fun nested/1}, {again, fun again/1}, {other, fun other/1}, {deep, fun deep/1}, {catches, fun catches/1},
                      {in_after, fun in_after/1}, {same, fun same/1}, {native, fun native/1}, {raised, fun raised/1}, {none, fun none/1}, {ended, fun ended/1},
                      {trimmed, fun trimmed/1}]].

short(S) -> [case E of {error_trace_rest, F, A, L} -> {F, A, proplists:get_value(line, L)}; {M, F, A, _} -> {M, F, A} end || E <- S].

fail(0) -> error(zero);
fail(N) -> 1 + fail(N - 1).

%% Other calls, collections and exceptions come between the exception and its trace.
late(N) ->
    A = t:id(N),
    R = try fail(A)
        catch error:E:S ->
            garbage_collect(),
            B = [catch fail(I) || I <- lists:seq(1, A)],
            C = (catch lists:nth(A, [])),
            {E, short(S), length(B), element(1, C)}
        end,
    {R, t:id(A)}.

nested(N) ->
    try 1 + nested_2(N) catch error:E:S -> {E, short(S)} end.
nested_2(N) ->
    try 2 + fail(N) catch throw:_ -> never; exit:_ -> never end.

%% No clause fits, so it is raised again, past frames that the first handler was in.
again(N) -> try 1 + again_2(N) catch error:E:S -> {E, short(S)} end.
again_2(N) -> 1 + again_3(N).
again_3(N) -> try 1 + fail(N) catch error:E:S when E =/= zero -> {never, S} end.

other(N) -> try 1 + other_2(N) catch C:E:S -> {C, E, short(S)} end.
other_2(N) -> try 1 + fail(N) catch error:E:S -> erlang:raise(exit, {was, E}, S) end.

deep(N) -> down(20, N).
down(0, N) -> try fail(N * 4) catch error:_:S -> short(S) end;
down(I, N) when I rem 2 =:= 0 -> [down(I - 1, N)];
down(I, N) -> {down(I - 1, N)}.

catches(N) ->
    {'EXIT', {zero, S}} = (catch 1 + fail(N)),
    {'EXIT', {badarith, T}} = (catch t:id(a) + N),
    {short(S), short(T)}.

in_after(N) -> try try 1 + fail(N) after t:id(ok), garbage_collect() end catch error:_:S -> short(S) end.

%% Two handlers in one function, where the inner one's trace is used in the outer one's.
same(N) ->
    try
        try t:id(N) + fail(1) catch error:zero:S -> exit({S, second}) end
    catch exit:{S1, second}:S2 -> {short(S1), short(S2)} end.

native(N) ->
    X = try lists:nth(N, [1]) catch error:E:S -> {E, short(S)} end,
    Y = try binary_to_atom(N) catch error:F:T -> {F, short(T)} end,
    Z = try apply(error_trace_rest, nothing, [N]) catch error:G:U -> {G, short(U)} end,
    {X, Y, Z}.

raised(N) -> try erlang:raise(throw, N, [{a, b, 1, []}]) catch throw:T:S -> {T, S} end.

none(N) -> lists:sum([try throw(I) catch throw:V -> V end || I <- lists:seq(1, N * 1000)]).

ended(N) ->
    {P, M} = spawn_monitor(fun() -> t:id(1 + fail(N)) end),
    receive {'DOWN', M, _, P, {zero, S}} -> short(S) end.

%% The frame of the handler's function is smaller when it asks.
trimmed(N) ->
    [A, B, C] = [t:id(X) || X <- [N, N + 1, N + 2]],
    try fail(A) of
        V -> V
    catch error:E:S ->
        t:id(B), t:id(C),
        t:id({E, short(S)})
    end.
