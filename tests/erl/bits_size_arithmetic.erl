%% Size expressions with arithmetic, units and guards in constructions.
-module(bits_size_arithmetic).
-export([main/1]).

main(_) -> [t:e(N, fun() -> <<(t:id(-1)):(N + 1)/unit:3>> end) || N <- [0, 1, 2, 7, -1, -2]], B = <<1, 2, 3, 4, 5, 6, 7, 8>>, [t:e(N, fun() -> <<B:(N - 1)/binary, B:(8 - N)/binary>> end) || N <- [1, 4, 8, 0, 9, 10]], [t:e(N, fun() -> <<_:(N div 2)/binary, X:(N rem 3), _/bits>> = B, X end) || N <- [0, 1, 5, 16, 20]], t:e(atom, fun() -> N = t:id(a), <<_:(N + 1), _/bits>> = B end), t:w(many, bit_size(<< <<0:N>> || N <- lists:seq(0, 100) >>)).
