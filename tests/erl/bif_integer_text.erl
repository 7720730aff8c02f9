%% Integers to and from text in every base, with errors.
-module(bif_integer_text).
-export([main/1]).

main(_) ->
    Ns = [0, 1, -1, 35, 36, 255, -256, 1 bsl 59, -(1 bsl 59), 1 bsl 63, (1 bsl 64) - 1, -(1 bsl 64), 123456789012345678901234567890],
    [t:w(Base, [integer_to_list(N, Base) || N <- Ns]) || Base <- [2, 8, 10, 16, 36]],
    [t:w(Base, [N =:= list_to_integer(integer_to_list(N, Base), Base) andalso N =:= binary_to_integer(integer_to_binary(N, Base), Base) || N <- Ns]) || Base <- lists:seq(2, 36)],
    t:all({erlang, list_to_integer}, [["12"], ["+12"], ["-12"], ["-0"], ["007"], [""], ["-"], ["+"], ["1 "], [" 1"], ["1.0"], ["1_0"], ["a"], [foo], [<<"1">>], [[$1 | $2]], [[a]], ["--1"], [[$1, 955]]]),
    t:all({erlang, list_to_integer}, [["ff", 16], ["FF", 16], ["fg", 16], ["zZ", 36], ["12", 2], ["-101", 2], ["1", 1], ["1", 37], ["1", a], ["", 10]]),
    t:all({erlang, binary_to_integer}, [[<<"12">>], [<<"-12">>], [<<"+5">>], [<<"">>], [<<"x">>], ["1"], [<<"1\n">>], [<<1:4>>]]),
    t:all({erlang, binary_to_integer}, [[<<"ff">>, 16], [<<"2">>, 2], [<<"1">>, 99], [<<"-zz">>, 36]]),
    t:all({erlang, integer_to_list}, [[1.0], [a], ["1"]]),
    t:all({erlang, integer_to_list}, [[10, 1], [10, 37], [a, 10], [10, b], [-255, 16]]),
    t:all({erlang, integer_to_binary}, [[a], [1.5], [<<>>]]),
    t:all({erlang, integer_to_binary}, [[255, 16], [255, 0], [x, 16]]),
    t:all({string, to_integer}, [["12abc"], ["-3"], ["abc"], [""], [<<"77 x">>], ["+9"], [a], ["1.5"]]),
    Big = list_to_integer(lists:duplicate(3000, $7)),
    t:w(big, {length(integer_to_list(Big)), erlang:phash2(Big), integer_to_list(Big) =:= lists:duplicate(3000, $7), Big rem 1000007, length(integer_to_list(Big, 2))}).
