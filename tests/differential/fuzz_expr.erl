%% Expressions of a wanted type, as text. Types guide and do not bind: now and then something else is put in, because what
%% a machine does with wrong arguments is half of what is tested.
%%
%% A context holds the variables in scope, functions of the program that may be called, and how deep an expression may still
%% go; how much a whole program may still grow is in the process dictionary (fuel). Names are never reused, so that every
%% program passes the compiler's checks of scope.
-module(fuzz_expr).
-export([expr/2, body/2, call_native/4]).

-import(fuzz_choice, [below/1, one/1, some/2, weighted/1, chance/1, fresh/1]).
-import(fuzz_pattern, [pattern/2, guard/1]).

expr(Type, #{depth := Depth} = Context) ->
    Fuel = get(fuel),
    put(fuel, Fuel - 1),
    Wanted = case chance(3) of true -> one([int, atom, list, map, bin, float, tuple]); false -> Type end,
    if Depth =< 0; Fuel =< 0 -> leaf(Wanted, Context);
       true -> inner(Wanted, Context#{depth := Depth - 1})
    end.

leaf({text, Text}, _) -> Text;
leaf({two, Type}, C) -> ["[", leaf(Type, C), ", ", leaf(Type, C), "]"];
leaf({call, M, F, Args}, C) -> call_native(M, F, Args, C);
leaf(Type, #{vars := Vars} = C) ->
    case [V || {V, T} <- Vars, fits(T, Type)] of
        [_ | _] = Fitting -> case chance(75) of true -> one(Fitting); false -> constant(Type, C) end;
        [] -> constant(Type, C)
    end.

fits(T, T) -> true;
fits(_, any) -> true;
fits(ilist, list) -> true;
fits(str, list) -> true;
fits(str, ilist) -> true;
fits(bin, bits) -> true;
fits(bool, atom) -> true;
fits(int, num) -> true;
fits(float, num) -> true;
fits(small, int) -> true;
fits(small, num) -> true;
fits(_, _) -> false.

constant('fun', C) -> constant(one([fun1, fun2]), C);
constant(fun1, C) ->
    case chance(30) of
        true -> one(["fun erlang:abs/1", "fun erlang:is_atom/1", "fun erlang:hd/1", "fun lists:reverse/1", "fun erlang:tuple_size/1"]);
        false -> X = fresh("X"), ["fun(", X, ") -> ", expr(any, in(deeper(C, -1), [{X, any}])), " end"]
    end;
constant(fun2, C) ->
    case chance(30) of
        true -> one(["fun erlang:'+'/2", "fun erlang:'=<'/2", "fun erlang:max/2", "fun lists:append/2"]);
        false ->
            X = fresh("X"), Y = fresh("Y"),
            ["fun(", X, ", ", Y, ") -> ", expr(any, in(deeper(C, -1), [{X, any}, {Y, any}])), " end"]
    end;
constant(base, _) -> one(["2", "8", "10", "16", "36", "36", "37", "1"]);
constant(range, _) -> one(["1", "2", "10", "1000", "(1 bsl 27)", "(1 bsl 32)", "(1 bsl 31)", "0"]);
constant(floatopts, _) -> one(["[]", "[short]", "[{decimals, 4}]", "[{decimals, 0}]", "[{decimals, 20}, compact]", "[{scientific, 3}]",
                              "[{scientific, 0}]", "[{decimals, 4}, compact]", "[{decimals, 254}]", "[bad]"]);
constant(etfopts, _) -> one(["[]", "[compressed]", "[{compressed, 0}]", "[{minor_version, 1}]", "[{minor_version, 2}]", "[deterministic]", "[bad]"]);
constant(etf, C) -> ["term_to_binary(", leaf(any, C), ")"];
constant(pairs, C) -> ["[", lists:join(", ", some(5, fun() -> ["{", leaf(any, C), ", ", leaf(any, C), "}"] end)), "]"];
constant(fununit, _) -> one(["arity", "name", "module", "type", "env"]);
constant(endian, _) -> one(["big", "little", "big", "bad"]);
constant(encoding, _) -> one(["utf8", "latin1", "unicode", "utf16", "{utf16, little}", "utf32", "{utf32, little}", "bad"]);
constant(splitopts, _) -> one(["[]", "[global]", "[trim]", "[global, trim_all]", "[{scope, {1, 2}}]", "[global, {scope, {3, -2}}]", "[{insert_replaced, 1}]"]);
constant(regex, _) -> one(["\"a\"", "\"[a-z]+\"", "\"(l+)(o?)\"", "\"^\\\\s*\"", "\"\\\\d+\"", "\"(?<x>b)|c\"", "\"(\"", "\".*?o\"", "\"$\"", "\"\""]);
constant(reopts, _) -> one(["[]", "[global]", "[{capture, all, binary}]", "[{capture, first, list}]", "[caseless, {capture, none}]", "[global, {capture, all, index}]",
                            "[{offset, 2}]", "[unicode]", "[notempty, {capture, [1], list}]", "[bad]"]);
constant(format, _) -> one(["\"~p\"", "\"~w ~w\"", "\"~s\"", "\"~ts~n\"", "\"~10.3f|\"", "\"~.2e\"", "\"~b\"", "\"~.16B ~c\"", "\"~5p~-8w|\"", "\"~i~p\"", "\"~g\"", "\"~P\""]);
constant(packet, _) -> one(["0", "1", "2", "4", "raw", "line", "asn1", "http", "http_bin", "httph", "cdr", "sunrm", "fcgi", "tpkt", "bad"]);
constant(Type, _) when Type =:= tuple; Type =:= list; Type =:= map; Type =:= any -> fuzz_literal:make(Type);
constant(Type, _) -> fuzz_literal:make(Type).

deeper(#{depth := Depth} = C, By) -> C#{depth := min(Depth, 2) + By}.

in(#{vars := Vars} = C, More) -> C#{vars := More ++ Vars}.

inner(Type, C) ->
    weighted([{3, fun() -> leaf(Type, C) end},
              {12, fun() -> special(Type, C) end},
              {6, fun() -> native(Type, C) end},
              {3, fun() -> own(Type, C) end},
              {6, fun() -> control(Type, C) end}]).

%% What every type can come from.
control(Type, C) ->
    weighted([{5, fun() -> 'case'(Type, C) end},
              {3, fun() -> 'if'(Type, C) end},
              {3, fun() -> 'try'(Type, C) end},
              {2, fun() -> ["begin ", body(Type, C), " end"] end},
              {2, fun() -> applied(Type, C) end},
              {1, fun() -> 'catch'(Type, C) end},
              {1, fun() -> 'maybe'(Type, C) end},
              {1, fun() -> 'receive'(Type, C) end},
              {1, fun() -> named(Type, C) end},
              {1, fun() -> raised(Type, C) end}]).

%% Statements and a last expression. A statement may bind what the following ones use.
body(Type, C) -> body(below(3), Type, C).

body(0, Type, C) -> expr(Type, C);
body(N, Type, C) ->
    {Text, After} = statement(C),
    [Text, ", ", body(N - 1, Type, After)].

statement(C) ->
    weighted([{6, fun() -> T = one([int, any, list, bin, map, tuple, float, bits, fun1, str, small]), V = fresh("V"),
                           {[V, " = ", expr(T, C)], in(C, [{V, T}])} end},
              {2, fun() -> {P, Vars} = pattern(any, C), {[P, " = ", expr(any, C)], in(C, Vars)} end},
              {1, fun() -> {["put(", fuzz_literal:atom(), ", ", expr(any, C), ")"], C} end},
              {1, fun() -> {["self() ! ", expr(any, C)], C} end},
              {1, fun() -> {["_ = (catch ", expr(any, C), ")"], C} end}]).

%% Clauses of case, try-of, receive.
clauses(Type, On, C) ->
    Texts = [begin
                 {P, Vars} = pattern(On, C),
                 Inside = in(C, Vars),
                 [P, guard(Inside), " -> ", body(Type, Inside)]
             end || _ <- lists:seq(1, 1 + below(3))],
    Last = case chance(80) of true -> [["_ -> ", expr(Type, C)]]; false -> [] end,
    lists:join("; ", Texts ++ Last).

'case'(Type, C) ->
    On = one([any, any, int, tuple, list, bin, map, atom, bits, str]),
    ["case ", expr(On, C), " of ", clauses(Type, On, C), " end"].

'if'(Type, C) ->
    ["if ", fuzz_pattern:tests(C), " -> ", expr(Type, C), "; ", fuzz_pattern:tests(C), " -> ", expr(Type, C),
     case chance(85) of true -> ["; true -> ", expr(Type, C)]; false -> [] end, " end"].

'try'(Type, C) ->
    Of = case chance(30) of true -> [" of ", clauses(Type, any, C)]; false -> [] end,
    After = case chance(25) of true -> [" after put(", fuzz_literal:atom(), ", ", expr(any, C), ")"]; false -> [] end,
    Handlers = case After =/= [] andalso chance(30) of
                   true -> [];
                   false ->
                       R = fresh("R"), S = fresh("S"), K = fresh("K"),
                       Inside = in(C, [{R, any}]),
                       [" catch ", one([[K, ":", R], ["error:", R], ["throw:", R], ["_:", R], R]), guard(Inside), " -> ", expr(Type, Inside), "; ",
                        K, "x:", R, "x:", S, " -> {", K, "x, ", R, "x, hd(", S, ")}"]
               end,
    ["try ", body(Type, C), Of, Handlers, After, " end"].

'catch'(Type, C) -> ["(catch ", expr(Type, C), ")"].

'maybe'(Type, C) ->
    {P, Vars} = pattern(any, C),
    Inside = in(C, Vars),
    ["maybe ", P, " ?= ", expr(any, C), ", ", expr(Type, Inside), case chance(50) of true -> [" else ", clauses(Type, any, C)]; false -> [] end, " end"].

'receive'(Type, C) ->
    ["begin self() ! ", expr(any, C), ", receive ", clauses(Type, any, C), " after ", one(["0", "0", "1", "0 + 1"]), " -> ", expr(Type, C), " end end"].

%% Mostly caught further out; what a program ends with is compared as well.
raised(Type, C) ->
    weighted([{2, fun() -> ["throw(", expr(any, C), ")"] end}, {2, fun() -> ["error(", expr(any, C), ")"] end},
              {1, fun() -> ["exit(", expr(any, C), ")"] end}, {1, fun() -> ["error(", expr(any, C), ", [", expr(any, C), "])"] end},
              {3, fun() -> process(Type, C) end}]).

%% Another process: how it ends, or what it sends.
process(_, C) ->
    P = fresh("P"), M = fresh("M"), R = fresh("R"),
    Inside = C#{vars := [{V, T} || {V, T} <- maps:get(vars, C)]},
    case chance(50) of
        true -> ["begin {", P, ", ", M, "} = spawn_monitor(fun() -> exit({ended, begin ", body(any, Inside), " end}) end), receive {'DOWN', ", M, ", process, ", P, ", ", R, "} -> ", R, " end end"];
        false -> ["begin ", P, " = self(), ", M, " = make_ref(), {_, ", R, "} = spawn_monitor(fun() -> ", P, " ! {", M, ", ", expr(any, Inside), "} end), receive {", M, ", ",
                  R, "x} -> ", R, "x; {'DOWN', ", R, ", _, _, ", R, "y} -> ", R, "y end end"]
    end.

applied(Type, C) ->
    N = below(3),
    Vars = [{fresh("A"), one([any, int, list])} || _ <- lists:seq(1, N)],
    ["(fun(", lists:join(", ", [V || {V, _} <- Vars]), ")", guard(in(C, Vars)), " -> ", body(Type, in(C, Vars)), " end)(", lists:join(", ", [expr(T, C) || {_, T} <- Vars]), ")"].

%% A loop over a list, or down from a small number.
named(Type, C) ->
    F = fresh("F"), H = fresh("H"), T = fresh("T"), Acc = fresh("Acc"), N = fresh("N"),
    case chance(50) of
        true ->
            ["(fun ", F, "([", H, " | ", T, "], ", Acc, ") -> ", F, "(", T, ", ", expr(Type, in(deeper(C, 0), [{H, any}, {Acc, Type}])), "); ", F, "(_, ", Acc, ") -> ", Acc, " end)(",
             expr(list, deeper(C, 0)), ", ", expr(Type, C), ")"];
        false ->
            ["(fun ", F, "(", N, ", ", Acc, ") when ", N, " > 0, ", N, " < 50 -> ", F, "(", N, " - 1, ", expr(Type, in(deeper(C, 0), [{N, small}, {Acc, Type}])), "); ", F, "(_, ", Acc, ") -> ", Acc, " end)(",
             fuzz_literal:small(), ", ", expr(Type, C), ")"]
    end.

native(Type, C) ->
    case fuzz_natives:giving(Type) of
        [] -> leaf(Type, C);
        Natives -> {M, F, Args} = one(Natives), call_native(M, F, Args, C)
    end.

call_native(M, F, Args, C) -> io_lib:format("~w:~w(~ts)", [M, F, lists:join(", ", [expr(A, C) || A <- Args])]).

%% A function of the program.
own(Type, #{funs := Funs} = C) ->
    case [F || {_, _, T} = F <- Funs, T =:= Type orelse Type =:= any] of
        [] -> native(Type, C);
        Found -> {Name, Args, _} = one(Found), [Name, "(", lists:join(", ", [expr(A, C) || A <- Args]), ")"]
    end.

special(int, C) ->
    weighted([{8, fun() -> ["(", expr(int, C), one([" + ", " - ", " * ", " div ", " rem ", " band ", " bor ", " bxor "]), expr(int, C), ")"] end},
              {2, fun() -> ["(", expr(int, C), one([" bsl ", " bsr "]), fuzz_literal:make(one([small, small])), one(["", " * 7", " * 13"]), ")"] end},
              {1, fun() -> ["(", one(["- ", "bnot "]), expr(int, C), ")"] end},
              {2, fun() -> {F, Args} = one(fuzz_natives:guards(int)), [atom_to_list(F), "(", lists:join(", ", [expr(A, C) || A <- Args]), ")"] end},
              {2, fun() -> fuzz_bits:extract(C) end}]);
special(small, C) -> weighted([{2, fun() -> fuzz_literal:small() end}, {1, fun() -> ["(", expr(int, C), " band 15)"] end}, {1, fun() -> ["length(", expr(list, C), ")"] end}]);
special(float, C) ->
    weighted([{6, fun() -> ["(", expr(num, C), one([" + ", " - ", " * ", " / "]), expr(float, C), ")"] end}, {1, fun() -> ["(", expr(int, C), " / ", expr(int, C), ")"] end},
              {1, fun() -> ["float(", expr(int, C), ")"] end}]);
special(num, C) -> special(one([int, float]), C);
special(bool, C) ->
    weighted([{4, fun() -> T = one([any, int, num, list, bin, map, tuple, float]),
                           ["(", expr(T, C), one([" =:= ", " == ", " < ", " =< ", " > ", " >= ", " /= ", " =/= "]), expr(T, C), ")"] end},
              {2, fun() -> ["(", expr(bool, C), one([" and ", " or ", " xor ", " andalso ", " orelse "]), expr(bool, C), ")"] end},
              {1, fun() -> ["not ", expr(bool, C)] end},
              {2, fun() -> {F, Args} = one(fuzz_natives:guards(bool)), [atom_to_list(F), "(", lists:join(", ", [expr(A, C) || A <- Args]), ")"] end}]);
special(atom, C) -> special(bool, C);
special(Type, C) when Type =:= list; Type =:= ilist ->
    Item = case Type of list -> any; ilist -> int end,
    weighted([{4, fun() -> ["[", lists:join(", ", [expr(Item, C) || _ <- lists:seq(1, 1 + below(4))]), "]"] end},
              {2, fun() -> ["[", expr(Item, C), " | ", expr(Type, C), "]"] end},
              {1, fun() -> ["(", expr(Type, C), one([" ++ ", " -- "]), expr(Type, C), ")"] end},
              {3, fun() -> {Quals, Inside} = qualifiers(C), ["[", expr(Item, Inside), " || ", Quals, "]"] end},
              {1, fun() -> fuzz_tables:expr(C) end}]);
special(str, C) -> weighted([{1, fun() -> native(str, C) end}, {1, fun() -> ["integer_to_list(", expr(int, C), ")"] end}, {1, fun() -> fuzz_literal:make(str) end}]);
special(tuple, C) ->
    weighted([{3, fun() -> ["{", lists:join(", ", [expr(any, C) || _ <- lists:seq(1, below(5))]), "}"] end}, {1, fun() -> ["setelement(", fuzz_literal:small(), ", ", expr(tuple, C), ", ", expr(any, C), ")"] end}]);
special(map, C) ->
    weighted([{3, fun() -> ["#{", lists:join(", ", [[leaf(any, C), " => ", expr(any, C)] || _ <- lists:seq(1, 1 + below(4))]), "}"] end},
              {3, fun() -> ["(", expr(map, C), ")#{", leaf(any, C), one([" => ", " => ", " := "]), expr(any, C), ", ", fuzz_literal:atom(), " => ", expr(any, C), "}"] end},
              {1, fun() -> {Quals, Inside} = qualifiers(C), ["#{", expr(any, Inside), " => ", expr(any, Inside), " || ", Quals, "}"] end}]);
special(Type, C) when Type =:= bin; Type =:= bits ->
    weighted([{4, fun() -> fuzz_bits:construct(Type, C) end},
              {1, fun() -> {Quals, Inside} = qualifiers(C), ["<<", fuzz_bits:construct(Type, Inside), " || ", Quals, ">>"] end}]);
special(Type, C) when Type =:= any -> special(one([int, list, tuple, map, bin, bits, float, bool, ilist]), C);
special(Type, C) -> leaf(Type, C).

%% Generators over what is short, and filters.
qualifiers(C) -> qualifiers(1 + below(2), C).

qualifiers(0, C) -> {[], C};
qualifiers(N, C) ->
    {Text, Inside} =
        weighted([{4, fun() -> {P, Vars} = pattern(any, C), {[P, " <- ", expr(list, deeper(C, 0))], in(C, Vars)} end},
                  {2, fun() -> I = fresh("I"), {[I, " <- lists:seq(1, ", fuzz_literal:small(), ")"], in(C, [{I, small}])} end},
                  {1, fun() -> I = fresh("I"), {["<<", I, one([":8", ":4", ":3/signed", ":16/little", "/utf8"]), ">> <= ", expr(bin, deeper(C, 0))], in(C, [{I, int}])} end},
                  {1, fun() -> K = fresh("K"), V = fresh("V"), {[K, " := ", V, " <- ", expr(map, deeper(C, 0))], in(C, [{K, any}, {V, any}])} end}]),
    Filter = case chance(30) of true -> [", ", expr(bool, deeper(Inside, 0))]; false -> [] end,
    {More, Last} = qualifiers(N - 1, Inside),
    {[Text, Filter, case More of [] -> []; _ -> [", ", More] end], Last}.
