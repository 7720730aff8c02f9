%% Patterns with the variables they bind, and guards.
-module(fuzz_pattern).
-export([pattern/2, guard/1, tests/1]).

-import(fuzz_choice, [below/1, one/1, weighted/1, chance/1, fresh/1]).

pattern(Type, C) -> pattern(Type, C, 3).

pattern(Type, C, Depth) ->
    Choices = [{5, fun() -> V = fresh("W"), {V, [{V, Type}]} end}, {1, fun() -> {"_", []} end},
               {2, fun() -> {pure(Type), []} end}, {1, fun() -> bound(Type, C) end}],
    Deep = [{8, fun() -> shape(Type, C, Depth - 1) end}, {1, fun() -> V = fresh("W"), {P, Vars} = shape(Type, C, Depth - 1), {[V, " = ", P], [{V, Type} | Vars]} end}],
    weighted(case Depth > 0 of true -> Choices ++ Deep; false -> Choices end).

%% A literal; never -0.0 or 0.0, about which the compiler warns and versions differ.
pure(float) -> "1.5";
pure(Type) when Type =:= map; Type =:= bits; Type =:= bin -> fuzz_literal:atom();
pure(any) -> fuzz_literal:make(one([int, atom, str, small]));
pure(Type) -> case Type of num -> fuzz_literal:make(int); tuple -> "{}"; list -> "[]"; ilist -> "[]"; _ -> plain(Type) end.

plain(Type) when Type =:= int; Type =:= small; Type =:= atom; Type =:= bool; Type =:= str -> fuzz_literal:make(Type);
plain(_) -> fuzz_literal:atom().

bound(_, #{vars := [_ | _] = Vars}) -> {V, _} = one(Vars), {V, []};
bound(_, _) -> {"_", []}.

shape(any, C, Depth) -> shape(one([tuple, list, map, bits, int, str, atom]), C, Depth);
shape(tuple, C, Depth) -> several("{", "}", below(4), C, Depth);
shape(Type, C, Depth) when Type =:= list; Type =:= ilist ->
    {Text, Vars} = several("", "", 1 + below(2), C, Depth),
    case chance(50) of
        true -> {["[", Text, "]"], Vars};
        false -> T = fresh("W"), {["[", Text, " | ", T, "]"], [{T, Type} | Vars]}
    end;
shape(map, C, Depth) ->
    Keys = [fuzz_literal:make(one([atom, int, small])) || _ <- lists:seq(1, 1 + below(2))],
    {Texts, Vars} = lists:unzip([pattern(any, C, Depth) || _ <- Keys]),
    {["#{", lists:join(", ", [[K, " := ", P] || {K, P} <- lists:zip(Keys, Texts)]), "}"], lists:append(Vars)};
shape(Type, C, _) when Type =:= bin; Type =:= bits -> fuzz_bits:pattern(C);
shape(str, _, _) -> T = fresh("W"), {["\"a\" ++ ", T], [{T, str}]};
shape(Type, _, _) -> {pure(Type), []}.

several(Open, Close, N, C, Depth) ->
    {Texts, Vars} = lists:unzip([pattern(one([any, any, int]), C, Depth) || _ <- lists:seq(1, N)]),
    {[Open, lists:join(", ", Texts), Close], lists:append(Vars)}.

%% " when ..." or nothing.
guard(C) ->
    case chance(40) of
        true -> [" when ", tests(C)];
        false -> []
    end.

tests(C) -> lists:join(one([", ", "; "]), [test(C, 2) || _ <- lists:seq(1, 1 + below(2))]).

test(C, Depth) ->
    weighted([{3, fun() -> [value(any, C, Depth), one([" =:= ", " == ", " < ", " =< ", " > ", " >= ", " /= ", " =/= "]), value(any, C, Depth)] end},
              {4, fun() -> {F, Args} = one(fuzz_natives:guards(bool)), call(F, Args, C, Depth) end},
              {1, fun() -> ["not (", test(C, Depth - 1), ")"] end},
              {1, fun() -> ["(", test(C, Depth - 1), one([" andalso ", " orelse ", ") and (", ") or ("]), test(C, Depth - 1), ")"] end},
              {1, fun() -> value(bool, C, 0) end}]).

value(Type, #{vars := Vars} = C, Depth) ->
    Simple = [{3, fun() -> case Vars of [] -> fuzz_literal:make(simple(Type)); _ -> element(1, one(Vars)) end end},
              {1, fun() -> fuzz_literal:make(simple(Type)) end}],
    weighted(case Depth > 0 of
                 true -> [{2, fun() -> ["(", value(int, C, Depth - 1), one([" + ", " - ", " * ", " div ", " rem ", " band ", " bsr "]), value(int, C, Depth - 1), ")"] end},
                          {2, fun() -> {F, Args} = one(fuzz_natives:guards(one([int, any, float, list]))), call(F, Args, C, Depth - 1) end} | Simple];
                 false -> Simple
             end).

simple(any) -> one([int, atom, float, str, small]);
simple(Type) when Type =:= list; Type =:= ilist -> str;
simple(Type) -> Type.

call(F, Args, C, Depth) -> [atom_to_list(F), "(", lists:join(", ", [value(A, C, Depth) || A <- Args]), ")"].
