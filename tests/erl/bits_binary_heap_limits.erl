%% Binaries around the size where they leave the heap, made in every way.
-module(bits_binary_heap_limits).
-export([main/1]).

main(_) -> [begin A = list_to_binary(lists:duplicate(N, $x)), B = binary:copy(<<"x">>, N), C = << <<"x">> || _ <- lists:seq(1, N) >>, D = <<A/binary>>, <<E:N/binary, _/binary>> = <<A/binary, "yz">>, t:w(N, {A =:= B, B =:= C, C =:= D, D =:= E, byte_size(E), erlang:phash2([A, B, C, D, E])}), Me = self(), spawn(fun() -> Me ! [A, B, C, D, E] end), t:w(sent, receive [A, B, C, D, E] -> ok end) end || N <- [0, 1, 63, 64, 65, 66, 127, 128, 255, 256, 257, 1000]].
