%% Atoms: text, quoting, Unicode, limits, conversions and their errors.
-module(lang_atoms).
-export([main/1]).

main(_) ->
    [t:w(A, {A, atom_to_list(A), atom_to_binary(A), atom_to_binary(A, utf8), length(atom_to_list(A))}) ||
        A <- ['', a, 'B', 'a b', 'é', 'λ', '日本', '😀', '1a', 'a@b', 'a-b', 'when', 'maybe', nil, '\n', 'a\'b', '_x']],
    [io:format("~w ~p ~tw ~tp ~ts~n", [A, A, A, A, A]) || A <- ['', 'é', 'λ', 'if', 'a_B1', '@', 'ÿ', '\\', '\t']],
    t:all({erlang, list_to_atom}, [["x"], [[955]], [""], [[16#10ffff]], [[a]], [foo], ["a" | []], [[$a | $b]], [[16#110000]], [[16#d800]], [[-1]]]),
    t:e(max, fun() -> length(atom_to_list(list_to_atom(lists:duplicate(255, $a)))) end),
    t:e(max_utf8, fun() -> length(atom_to_list(list_to_atom(lists:duplicate(255, 16#1f600)))) end),
    t:e(too_long, fun() -> list_to_atom(lists:duplicate(256, $a)) end),
    t:e(too_long_bin, fun() -> binary_to_atom(binary:copy(<<"a">>, 256)) end),
    t:all({erlang, binary_to_atom}, [[<<"x">>], [<<"λ"/utf8>>, utf8], [<<233>>, latin1], [<<233>>, utf8], [<<>>], [x], [<<1:3>>], [<<"x">>, latin9]]),
    t:all({erlang, list_to_existing_atom}, [["lists"], ["no such atom here, surely"], [<<"x">>]]),
    t:all({erlang, binary_to_existing_atom}, [[<<"lists">>], [<<"no such atom either">>], [5], [<<255>>, utf8]]),
    t:all({erlang, atom_to_list}, [["x"], [1]]),
    t:all({erlang, atom_to_binary}, [['λ', latin1], ['é', latin1], [1], [a, foo]]),
    t:w(order, lists:sort([b, a, 'B', '', 'é', 'λ', aa, 'a b', '😀', 'ÿ', z])),
    t:w(same, list_to_atom("abc") =:= abc).
