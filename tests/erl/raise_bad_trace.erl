%% What erlang:raise/3 takes for a stack trace; anything else makes it return badarg.
-module(raise_bad_trace).
-export([main/1]).

main(_) ->
    Traces = [{7, 11642}, {7, []}, {[], error}, {[{a, b, 1, []}], error}, {}, foo, 7, [], [7 | 11642], [{a, b, 1, []} | x],
              [{a, b, 1, []}], [{a, b, 1}], [{fun main/1, [x]}], [{fun main/1, x, y}], [{a, 7, 1}], [{a, b}], [{a, b, c, []}], #{}, <<>>],
    [io:format("~0p~n", [{T, raise(T), applied(T)}]) || T <- Traces],
    [io:format("~0p~n", [{T, again(T)}]) || T <- Traces].

raise(T) ->
    try erlang:raise(error, reason, T) catch C:R:S -> {raised, C, R, S} end.

applied(T) ->
    F = binary_to_atom(<<"raise">>),
    try apply(erlang, F, [throw, reason, T]) catch C:R:S -> {raised, C, R, S} end.

%% The trace of one exception goes on with another.
again(T) ->
    try
        try error(T) catch C:R:S -> erlang:raise(C, {R, 2}, S) end
    catch C2:R2:S2 -> {C2, R2, [{M, F, A} || {M, F, A, _} <- lists:sublist(S2, 1)]}
    end.
