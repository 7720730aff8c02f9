%% Bit syntax: construction, matching, and taking a number out of a binary.
-module(fuzz_bits).
-export([construct/2, pattern/1, extract/1]).

-import(fuzz_choice, [below/1, one/1, weighted/1, chance/1, fresh/1]).

construct(Type, C) ->
    ["<<", lists:join(", ", [segment(Type, C) || _ <- lists:seq(1, 1 + below(4))]), ">>"].

segment(Type, C) ->
    weighted([{5, fun() -> [value(int, C), ":", size(Type, C), one(["", "/little", "/signed", "/unsigned-native", "/big-signed"])] end},
              {2, fun() -> value(int, C) end},
              {1, fun() -> [value(int, C), ":", bound(C), one(["/unit:8", "/little-unit:16", "/signed-unit:24"])] end},
              {1, fun() -> [value(num, C), ":", one(["16", "32", "64", "64"]), "/float", one(["", "-little"])] end},
              {2, fun() -> [value(bin, C), "/binary"] end},
              {1, fun() -> [value(bin, C), ":", one(["1", "2", "3", bound(C)]), "/binary"] end},
              {1, fun() -> [value(int, C), one(["/utf8", "/utf16", "/utf32", "/utf16-little"])] end},
              {1, fun() -> "\"text\"" end},
              {case Type of bits -> 2; _ -> 0 end, fun() -> [value(bits, C), "/bitstring"] end}]).

%% Bounded, or a program asks for gigabytes.
size(bin, _) -> one(["8", "16", "24", "32", "64", "128", "8", "8"]);
size(bits, C) -> one(["1", "3", "7", "13", "33", "59", "60", "61", "65", "127", bound(C)]).

bound(#{vars := Vars}) ->
    case [V || {V, small} <- Vars] of [] -> "9"; Found -> one(Found) end.

value(Type, C) ->
    case fuzz_expr:expr(Type, C#{depth := min(1, maps:get(depth, C))}) of
        Text -> ["(", Text, ")"]
    end.

%% Segments, the later of which may use what the earlier ones bound.
pattern(C) ->
    {Texts, Vars} = segments(1 + below(3), C, []),
    {Rest, More} = case chance(60) of
                       true -> R = fresh("W"), {[[R, one(["/binary", "/bitstring", "/bitstring"])]], [{R, bits}]};
                       false -> {[], []}
                   end,
    {["<<", lists:join(", ", Texts ++ Rest), ">>"], More ++ Vars}.

segments(0, _, Vars) -> {[], Vars};
segments(N, C, Vars) ->
    V = fresh("W"),
    {Text, Bound} =
        weighted([{5, fun() -> {[V, ":", length_of(Vars), one(["", "/little", "/signed", "/little-signed"])], [{V, int}]} end},
                  {2, fun() -> {V, [{V, int}]} end},
                  {1, fun() -> {[V, ":", one(["16", "32", "64"]), "/float"], [{V, float}]} end},
                  {1, fun() -> {[V, ":", one(["1", "2"]), "/binary"], [{V, bin}]} end},
                  {1, fun() -> {[V, one(["/utf8", "/utf16", "/utf32"])], [{V, int}]} end},
                  {1, fun() -> {["_:", integer_to_list(below(9))], []} end},
                  {1, fun() -> {integer_to_list(below(256)), []} end}]),
    {Texts, All} = segments(N - 1, C, Bound ++ Vars),
    {[Text | Texts], All}.

length_of(Vars) ->
    case [V || {V, int} <- Vars] of
        [_ | _] = Found -> case chance(25) of true -> one([one(Found), ["(", one(Found), " band 31)"]]); false -> fixed() end;
        [] -> fixed()
    end.

fixed() -> one(["8", "1", "4", "7", "12", "16", "24", "32", "48", "59", "60", "61", "64", "72", "100"]).

extract(C) ->
    {P, Vars} = pattern(C),
    case [V || {V, int} <- Vars] of
        [] -> "7";
        Found -> ["case ", fuzz_expr:expr(bits, C), " of ", P, " -> ", one(Found), "; _ -> ", fuzz_literal:make(int), " end"]
    end.
