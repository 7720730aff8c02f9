%% Which errors ets:test_ms tells of, where several clauses have some.
-module(ets_spec_errors).
-export([main/1]).

main(_) ->
    [io:format("~0p~n   ~0p~n", [Spec, catch ets:test_ms({a}, Spec)]) || Spec <- specs()].

specs() ->
    [[x], [x, y], [{a, b}, {c, d}], [{1, 2, 3} | x], [{1, 2}, #{}], [x | {a}], [{6.0, 5}, #{21 => 2}, [6, 7]], [{a, [], []}], [{a, b, c}],
     [{a, x, []}, b], [b, {a, x, []}], [{a, x, []}, {b, [], y}], [{a, x, []}, c, {b, [], y}], [{{a, '$1'}, [{x}], ['$2']}, {a}],
     [{a}, {{a, '$1'}, [{x}], ['$2']}], [{a, x, y}, {b, [], [x]}, {c}], [{a, [], [x]}, {b, x, []}, {c, [{y}], ['$9']}]].
