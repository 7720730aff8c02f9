%% Native coverage: modes, what they count with and without the compiler's line_coverage, reset, and errors.
-module(code_coverage).
-export([main/1]).
t(F) -> try F() catch C:R -> {C,R} end.
main(_) ->
  true = code:coverage_support(),
  S = "-module(ct1).\n-export([a/1,b/0,c/1,d/1]).\na(1) -> x; a(2) -> y;\na(_) -> z.\nb() ->\n  ok.\nc(X) -> case X of 1 -> one; 2 -> two end.\nd(L) ->\n [Y || Y <- L,\n   Y > 2].\ne() -> fun() ->\n  1 end.\nf(1) -> 2.\n",
  Forms = t:forms(S),
  [begin
  {ok,M,Beam} = compile:forms(Forms, [binary, nowarn_unused_function | Opts]),
  [begin
   io:format("== ~p ~p~n", [Opts, Mode]),
   Old = code:set_coverage_mode(Mode),
   code:load_binary(M,"",Beam),
   io:format("~p ~p~n",[Old, t(fun() -> code:get_coverage_mode(M) end)]),
   M:b(), M:b(), M:a(2), M:a(7), M:c(2), M:d([1,2,3]),
   [io:format("~p: ~w~n", [L, t(fun() -> code:get_coverage(L,M) end)]) || L <- [function,line,cover_id_line,foo]],
   io:format("~p~n", [t(fun() -> code:reset_coverage(M) end)]),
   M:b(),
   [io:format("~p: ~w~n", [L, t(fun() -> code:get_coverage(L,M) end)]) || L <- [function,line,cover_id_line]],
   code:delete(M), code:purge(M)
   end || Mode <- [function,function_counters,line,line_counters,none]]
  end || Opts <- [[], [line_coverage], [line_coverage, debug_info,force_line_counters]]],
  [io:format("~p ~p~n", [{F, A}, t(fun() -> apply(code, F, A) end)]) || {F, A} <-
    [{set_coverage_mode, [42]}, {set_coverage_mode, [xyz]}, {get_coverage_mode, [42]}, {get_coverage_mode, [not_loaded]},
     {get_coverage, [line, 42]}, {get_coverage, [line, not_loaded]}, {get_coverage, [line, lists]}, {reset_coverage, [42]},
     {reset_coverage, [not_loaded]}, {reset_coverage, [lists]}, {get_coverage_mode, [lists]}]],
  %% Many at once lose no count.
  code:set_coverage_mode(line_counters),
  {ok, M1, Beam1} = compile:forms(t:forms("-module(ct2).\n-export([f/1]).\nf(0) -> 0;\nf(N) ->\n f(N - 1).\n"), [line_coverage]),
  code:load_binary(M1, "", Beam1),
  code:set_coverage_mode(none),
  Ps = [spawn_monitor(fun() -> ct2:f(10000) end) || _ <- lists:seq(1, 8)],
  [receive {'DOWN', R, _, P, normal} -> ok end || {P, R} <- Ps],
  io:format("~p~n", [code:get_coverage(line, ct2)]),
  erlang:garbage_collect(),
  code:purge(ct2), code:delete(ct2).
