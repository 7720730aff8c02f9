%% What open_port takes for a text: atoms, flat lists, binaries.
-module(port_texts).
-export([main/1]).
main(_) ->
    [t:e(O, fun() ->
                P = open_port({spawn_executable, "/bin/echo"}, [exit_status, binary | O]),
                receive {P, {data, D}} -> D after 5000 -> none end
            end)
     || O <- [[{args, ["-n", abc, x]}], [{args, ["-n", ["a", [$b | <<"c">>]], "d"]}], [{args, ['å']}], [{args, ["a\0b"]}],
              [{args, [1]}], [{args, [{a}]}], [{args, abc}], [{args, [a | b]}], [{arg0, foo}, {args, [bar]}], [{cd, '/tmp'}],
              [{args, [[a, b]]}], [{args, [[]]}], [{args, [""]}], [{args, [[256]]}], [{args, [<<255>>]}], [{args, [['å']]}],
              [{args, [["a", "b"]]}], [{args, [[$a | $b]]}], [{args, [<<"a":7>>]}]]].
