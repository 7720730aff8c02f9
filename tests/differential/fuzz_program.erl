%% A whole program from a seed: functions that call later ones only (every program ends), and main/0 that calls them and
%% gives all results.
-module(fuzz_program).
-export([source/2]).

-import(fuzz_choice, [below/1, one/1, fresh/1]).

-define(FUEL, 220).

source(Name, Seed) ->
    erase(),
    rand:seed(exsss, Seed),
    Signatures = [{"f" ++ integer_to_list(N), [type() || _ <- lists:seq(1, below(4))], type()} || N <- lists:seq(1, 2 + below(4))],
    unicode:characters_to_binary(
      ["-module(", Name, ").\n-export([main/0]).\n-compile([nowarn_deprecated_function]).\n", functions(Signatures), main(Signatures)]).

type() -> one([any, any, int, list, bin, map, tuple, float, bits, bool, small, ilist, str]).

functions([]) -> [];
functions([{Name, Args, Type} | Later]) ->
    [function(Name, Args, Type, Later), functions(Later)].

function(Name, Args, Type, Later) ->
    Clauses = [clause(Name, Args, Type, Later, pattern) || _ <- lists:seq(1, below(3))] ++ [clause(Name, Args, Type, Later, variable)],
    ["\n", lists:join(";\n", Clauses), ".\n"].

clause(Name, Args, Type, Later, How) ->
    Context = #{vars => [], depth => 5, funs => Later},
    {Texts, Vars} = lists:unzip([case How of
                                     pattern -> fuzz_pattern:pattern(A, Context);
                                     variable -> V = fresh("V"), {V, [{V, A}]}
                                 end || A <- Args]),
    Inside = Context#{vars := lists:append(Vars)},
    put(fuel, ?FUEL),
    [Name, "(", lists:join(", ", Texts), ")", case How of pattern -> fuzz_pattern:guard(Inside); variable -> "" end, " ->\n    ", fuzz_expr:body(Type, Inside)].

%% Each function with a few arguments.
main(Signatures) ->
    Calls = [["    fun() -> ", Name, "(", lists:join(", ", [argument(A) || A <- Args]), ") end"] || {Name, Args, _} <- Signatures, _ <- [1, 2, 3]],
    ["\nmain() -> [\n", lists:join(",\n", Calls), "\n].\n"].

argument(Type) -> put(fuel, 10), fuzz_expr:expr(Type, #{vars => [], depth => 1, funs => []}).
