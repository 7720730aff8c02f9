%% A fun that is called last leaves no frame of its caller, whether the compiler knows that it is a fun or not.
-module(fun_tail_frames).
-export([main/1]).

main(_) ->
    Known = fun Loop(F, N) when is_function(F, 2) ->
                    case N of
                        0 -> stack();
                        _ -> F(Loop, N - 1)
                    end
            end,
    Few = Known(Known, 10),
    Many = Known(Known, 100000),
    io:format("~p ~p~n", [Many - Few, hop(fun hop/2, 10) - hop(fun hop/2, 100000)]),
    %% The trace of a raise in tail position: functions that always raise keep their caller in sight.
    [io:format("~p~n", [try top(F, A) catch C:R:T -> {C, R, [{M, N, Y} || {M, N, Y, _} <- lists:sublist(T, 2)]} end])
     || {F, A} <- [{error, [x]}, {error, [x, [a, b]]}, {exit, [x]}, {throw, [x]}, {'++', [a, b]}]].

stack() -> element(2, process_info(self(), stack_size)).

hop(_, 0) -> stack();
hop(F, N) when is_function(F, 2) -> F(F, N - 1).

top(F, A) -> {value, applied(F, A)}.
applied(F, A) -> apply(erlang, F, id(A)).
id(X) -> X.
