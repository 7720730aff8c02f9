%% Terms through the external format and back, options, and damaged input.
-module(etf_round_trip).
-export([main/1]).

main(_) ->
    Ts = [0, -1, 1 bsl 500, -(1 bsl 500), 1.0e-300, 'ünï', [], "s", [a | b], {}, list_to_tuple(lists:seq(1, 300)), <<1:7>>, binary:copy(<<7>>, 1000), #{}, maps:from_keys(lists:seq(1, 100), []), self(), make_ref(), fun lists:map/2, [[[[a]]]], lists:seq(1, 1000), #{#{} => {#{}}}],
    t:w(same, [binary_to_term(term_to_binary(T)) =:= T || T <- Ts]), t:w(compressed, [binary_to_term(term_to_binary(T, [compressed])) =:= T || T <- Ts]), t:w(level, [binary_to_term(term_to_binary(T, [{compressed, 9}])) =:= T || T <- Ts]), t:w(all, binary_to_term(term_to_binary(Ts)) =:= Ts),
    K = 5, F = fun(X) -> X + K end, t:w(fun_, (binary_to_term(term_to_binary(F)))(1)), t:w(size, [erlang:external_size(T) >= byte_size(term_to_binary(T)) || T <- Ts]), t:w(used, binary_to_term(<<(term_to_binary(abc))/binary, 1, 2>>, [used])),
    t:w(old, [binary_to_term(B) || B <- [<<131, 97, 5>>, <<131, 98, 255, 255, 255, 255>>, <<131, 100, 0, 1, $a>>, <<131, 115, 1, $a>>, <<131, 119, 1, $a>>, <<131, 107, 0, 2, 1, 2>>, <<131, 104, 0>>, <<131, 106>>, <<131, 110, 1, 1, 5>>, <<131, 108, 0, 0, 0, 1, 97, 1, 106>>, <<131, 99, "1.50000000000000000000e+00", 0, 0, 0, 0, 0>>]]),
    [t:e(B, fun() -> binary_to_term(B) end) || B <- [<<>>, <<131>>, <<130, 97, 1>>, <<131, 97>>, <<131, 255>>, <<131, 104, 2, 97, 1>>, <<131, 109, 0, 0, 0, 5, 1>>, <<131, 108, 255, 255, 255, 255>>, <<131, 116, 0, 0, 0, 2, 97, 1, 97, 1, 97, 1, 97, 2>>, <<131, 119, 2, 255, 255>>, <<131, 80, 0, 0, 0, 9, 1, 2, 3>>, <<131, 70, 127, 240, 0, 0, 0, 0, 0, 0>>]],
    t:e(safe, fun() -> binary_to_term(<<131, 119, 20, "never_seen_atom_0001">>, [safe]) end), t:e(safe_ok, fun() -> binary_to_term(<<131, 119, 5, "lists">>, [safe]) end), t:e(opt, fun() -> binary_to_term(<<131, 106>>, [foo]) end).
