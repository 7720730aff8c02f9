%% Calls to what is not there: modules, functions, arities; a handler of one's own; $handle_undefined_function.
-module(error_handling_undef).
-export([main/1]).
-export(['$handle_undefined_function'/2, undefined_function/3, undefined_lambda/3]).
main(_) ->
    t:e(module, fun() -> (t:id(no_such_module)):f(1) end), t:e(function, fun() -> lists:no_such_function(1) end), t:e(arity, fun() -> apply(lists, map, [1, 2, 3, 4]) end), t:e(caught, fun() -> ?MODULE:anything(1, 2) end), t:e(bif, fun() -> apply(erlang, nope, []) end), t:e(mod_int, fun() -> (t:id(1)):f() end), t:e(fun_var, fun() -> F = t:id(1.5), lists:F(1) end), t:e(apply_bad, fun() -> apply(lists, map, t:id(x)) end), t:e(apply_long, fun() -> apply(lists, max, [lists:seq(1, 10)]) end), t:e(many_args, fun() -> apply(t:id(fun(A, B, C, D, E, F, G, H, I, J) -> {A, B, C, D, E, F, G, H, I, J} end), lists:seq(1, 10)) end), t:e(max_arity, fun() -> apply(lists, x, lists:seq(1, 300)) end), {P, M} = spawn_monitor(fun() -> process_flag(error_handler, ?MODULE), exit({got, missing_mod:missing_fun(1, 2)}) end), receive {'DOWN', M, _, P, R} -> t:w(own_handler, R) end, t:w(exported, [erlang:function_exported(A, B, C) || {A, B, C} <- [{lists, map, 2}, {lists, map, 9}, {nomod, f, 0}, {?MODULE, main, 1}, {erlang, abs, 1}]]).
'$handle_undefined_function'(F, A) -> {handled, F, A}.
undefined_function(M, F, A) -> {undefd, M, F, A}.
undefined_lambda(_, _, _) -> lambda.
