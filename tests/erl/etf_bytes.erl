%% The exact bytes of the external format for every kind of term.
-module(etf_bytes).
-export([main/1]).

main(_) ->
    [t:w(X, {erlang:external_size(X), term_to_binary(X)}) || X <- [0, 255, 256, -1, 1 bsl 27, -(1 bsl 27) - 1, 1 bsl 31, (1 bsl 31) - 1, -(1 bsl 31), 1 bsl 32, 1 bsl 59, 1 bsl 64, -(1 bsl 64), 1.5, -0.0, a, 'é', 'λ', '', [], "abc", [1, 256], [a | b], [[]], {}, {a, 1}, <<>>, <<1, 2>>, <<5:3>>, <<1, 1:1>>, #{}, #{a => 1}, true, fun lists:map/2, "", [255], [256]]],
    t:w(long_string, begin B = term_to_binary(lists:duplicate(65535, 1)), {byte_size(B), binary:part(B, 0, 5)} end), t:w(longer, begin B2 = term_to_binary(lists:duplicate(65536, 1)), {byte_size(B2), binary:part(B2, 0, 8)} end),
    t:w(big, begin B3 = term_to_binary(1 bsl 2100), {byte_size(B3), binary:part(B3, 0, 8)} end), t:w(large_tuple, binary:part(term_to_binary(erlang:make_tuple(256, a)), 0, 10)), t:w(long_atom, byte_size(term_to_binary(list_to_atom(lists:duplicate(255, 955))))),
    t:w(options, [term_to_binary(1.5, [{minor_version, V}]) || V <- [0, 1, 2]]), t:w(latin, [term_to_binary('é', [{minor_version, V}]) || V <- [1, 2]]), t:w(deterministic, term_to_binary(#{a => 1, b => 2, c => 3}, [deterministic]) =:= term_to_binary(#{c => 3, b => 2, a => 1}, [deterministic])),
    t:w(iovec, iolist_to_binary(erlang:term_to_iovec({a, <<1, 2, 3>>}))), t:w(compressed, begin C = term_to_binary(lists:duplicate(1000, abc), [compressed]), {binary:part(C, 0, 6), byte_size(C) < 100, length(binary_to_term(C))} end), t:w(incompressible, term_to_binary({a}, [compressed])).
