%% ETS tables, made, filled, asked and deleted in one expression that gives a list: the order of a hash table never shows.
-module(fuzz_tables).
-export([expr/1]).

-import(fuzz_choice, [below/1, one/1, weighted/1, fresh/1]).

expr(C) ->
    T = fresh("T"),
    Kind = one(["set", "ordered_set", "bag", "duplicate_bag"]),
    ["begin ", T, " = ets:new(t, [", Kind, one(["", ", compressed", ", {write_concurrency, true}"]), "]), true = ets:insert(", T, ", [",
     lists:join(", ", [row(C) || _ <- lists:seq(1, 1 + below(5))]), "]), ",
     [[step(T, C), ", "] || _ <- lists:seq(1, below(3))],
     fresh("E"), " = lists:sort(", answer(T, C), ") ++ lists:sort(ets:tab2list(", T, ")) end"].

row(C) -> ["{", fuzz_literal:make(one([int, atom, small, float, any])), ", ", value(C), ", ", value(C), "}"].

value(C) -> fuzz_expr:expr(any, C#{depth := 0}).

step(T, C) ->
    One = fun(Text) -> ["_ = (catch ", Text, ")"] end,
    One(weighted([{2, fun() -> ["ets:insert(", T, ", ", row(C), ")"] end},
                  {1, fun() -> ["ets:insert_new(", T, ", ", row(C), ")"] end},
                  {1, fun() -> ["ets:delete(", T, ", ", key(), ")"] end},
                  {1, fun() -> ["ets:update_counter(", T, ", ", key(), ", {2, ", value(C), "})"] end},
                  {1, fun() -> ["ets:update_element(", T, ", ", key(), ", {3, ", value(C), "})"] end},
                  {1, fun() -> ["ets:match_delete(", T, ", {", key(), ", '_', '_'})"] end},
                  {1, fun() -> ["ets:select_replace(", T, ", [{{'$1', '$2', '$3'}, [", test(), "], [{{'$1', '$3', '$2'}}]}])"] end},
                  {1, fun() -> ["ets:select_delete(", T, ", [{{'$1', '$2', '_'}, [", test(), "], [true]}])"] end},
                  {1, fun() -> ["ets:take(", T, ", ", key(), ")"] end}])).

answer(T, C) ->
    weighted([{1, fun() -> ["ets:lookup(", T, ", ", key(), ")"] end},
              {1, fun() -> ["ets:match(", T, ", {'$1', '$2', ", one(["'_'", "'$2'", "'$1'", key()]), "})"] end},
              {1, fun() -> ["ets:match_object(", T, ", {", one(["'_'", key()]), ", '$1', '$1'})"] end},
              {3, fun() -> ["ets:select(", T, ", [{{'$1', '$2', '$3'}, [", test(), "], ['", one(["$1", "$$", "$_", "$2"]), "']}])"] end},
              {1, fun() -> ["[ets:select_count(", T, ", [{{'$1', '_', '$3'}, [", test(), "], [true]}])]"] end},
              {1, fun() -> ["ets:select(", T, ", [{{'$1', '$2', '$3'}, [], [", body(), "]}])"] end},
              {1, fun() -> ["[(catch ets:lookup_element(", T, ", ", key(), ", 2, ", value(C), "))]"] end}]).

key() -> fuzz_literal:make(one([int, atom, small])).

test() -> one(["", ["{'", one(["<", ">", "=<", "=:=", "==", "/="]), "', '$1', ", fuzz_literal:make(one([int, atom, float])), "}"],
               "{is_integer, '$3'}", "{'not', {is_atom, '$1'}}", "{'orelse', {is_list, '$1'}, {'>', {size, '$3'}, 1}}", "{'<', {'+', '$1', 1}, 5}",
               "{'andalso', {is_map, '$3'}, {'>', {map_size, '$3'}, 0}}", "{'=:=', {const, a}, '$3'}"]).

body() -> one(["{{'$1', {'+', '$1', 1}}}", "[{'*', '$1', 2}, '$3']", "{{'$3', {const, {x, y}}}}", "{element, 1, '$_'}", "{abs, '$1'}", "#{k => '$1'}"]).
