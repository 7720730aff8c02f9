%% Lists: functions written in the VM, those in Erlang that lean on them, sorting with funs, tuples.
-module(seq_lists).
-export([step/0, init/0, run/3, done/1]).

init() -> ok.
done(_) -> ok.

step() -> case seq_value:below(12) of
              0 -> {{form, seq_value:below(9)}, [seq_value:arg(list), seq_value:arg(list)], list};
              _ -> seq_calls:step(calls())
          end.

calls() ->
    {{erlang, '++', [list, list], list}, {erlang, '--', [list, list], list}, {erlang, length, [list], int}, {erlang, hd, [list], any}, {erlang, tl, [list], list},
     {lists, reverse, [list], list}, {lists, reverse, [list, any], list}, {lists, member, [any, list], bool}, {lists, keyfind, [any, small, list], any}, {lists, keymember, [any, small, list], bool},
     {lists, keysearch, [any, small, list], any}, {lists, sort, [list], list}, {lists, usort, [list], list}, {lists, keysort, [small, list], list}, {lists, ukeysort, [small, list], list},
     {lists, keydelete, [any, small, list], list}, {lists, keyreplace, [any, small, list, tuple], list}, {lists, keystore, [any, small, list, tuple], list}, {lists, keytake, [any, small, list], any},
     {lists, merge, [list, list], list}, {lists, umerge, [list, list], list}, {lists, keymerge, [small, list, list], list}, {lists, flatten, [list], list}, {lists, flatlength, [list], int}, {lists, append, [{some, list}], list},
     {lists, concat, [list], str}, {lists, nth, [small, list], any}, {lists, nthtail, [small, list], list}, {lists, last, [list], any}, {lists, sublist, [list, small], list}, {lists, sublist, [list, small, small], list},
     {lists, delete, [any, list], list}, {lists, subtract, [list, list], list}, {lists, seq, [count, count], list}, {lists, seq, [count, count, {one, {1, 2, -1, 0, 3}}], list}, {lists, duplicate, [count, any], list},
     {lists, zip, [list, list], list}, {lists, zip, [list, list, {one, {fail, trim, {pad, {x, y}}}}], list}, {lists, unzip, [list], any}, {lists, zip3, [list, list, list], list}, {lists, split, [small, list], any}, {lists, sum, [list], num}, {lists, max, [list], any}, {lists, min, [list], any},
     {lists, prefix, [list, list], bool}, {lists, suffix, [list, list], bool}, {lists, uniq, [list], list}, {lists, enumerate, [list], list}, {lists, join, [any, list], list}, {lists, droplast, [list], list},
     {erlang, list_to_tuple, [list], tuple}, {erlang, tuple_to_list, [tuple], list}, {erlang, element, [small, tuple], any}, {erlang, setelement, [small, tuple, any], tuple}, {erlang, append_element, [tuple, any], tuple},
     {erlang, insert_element, [small, tuple, any], tuple}, {erlang, delete_element, [small, tuple], tuple}, {erlang, make_tuple, [count, any], tuple}, {erlang, make_tuple, [count, any, {some, {tuple_of, [count, any]}}], tuple},
     {erlang, tuple_size, [tuple], int}, {ordsets, union, [list, list], list}, {ordsets, subtract, [list, list], list}, {ordsets, from_list, [list], list}, {erlang, list_to_atom, [str], atom},
     {erlang, phash2, [list], int}, {erlang, '<', [list, list], bool}, {erlang, '=:=', [list, list], bool}, {erlang, iolist_size, [list], int}, {erlang, list_to_binary, [list], bin},
     {proplists, get_value, [any, list], any}, {proplists, compact, [list], list}, {lists, search, [{exact, fun erlang:is_atom/1}, list], any}, {lists, filter, [{exact, fun erlang:is_integer/1}, list], list}, {lists, map, [{exact, fun erlang:hd/1}, list], list},
     {lists, foldl, [{exact, fun erlang:'+'/2}, num, list], num}, {lists, foldr, [{exact, fun erlang:max/2}, any, list], any}, {lists, partition, [{exact, fun erlang:is_list/1}, list], any}, {lists, sort, [{exact, fun erlang:'>='/2}, list], list}, {lists, usort, [{exact, fun erlang:'=<'/2}, list], list}}.

run({form, N}, [A, B], S) -> {form(N, A, B), S};
run(Call, Arguments, S) -> seq_calls:run(Call, Arguments, S).

form(0, A, B) -> [{X, Y} || X <- lists:sublist(A, 9), Y <- lists:sublist(B, 9), X =/= Y];
form(1, A, B) -> A ++ B -- [1, 2, 3 | A];
form(2, [H | T], B) -> [T, H | B];
form(3, [A, _, C | _], B) -> {A, C, B};
form(4, A, [X | _]) -> [E || E <- A, E > X];
form(5, A, B) when A < B -> {lt, A}; 
form(5, A, B) -> {ge, A =:= B};
form(6, A, B) when length(A) > length(B), hd(A) =/= 1 -> longer;
form(6, A, _) when is_list(A) -> other;
form(7, A, B) -> lists:foldl(fun(X, Acc) when is_integer(X) -> [X | Acc]; (X, Acc) -> Acc ++ [X] end, B, A);
form(8, [X, X | T], _) -> {same, X, T};
form(8, _, [{K, V} | _]) -> {pair, K, V};
form(_, _, _) -> none.
