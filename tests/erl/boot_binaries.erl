%% Bit syntax without any library.
-module(boot_binaries).
-export([main/1]).

main(_) ->
    B = id(<<1, 2, 3, 4, 5>>),
    <<X:16, Y:4, Z/bits>> = B,
    [erlang:display(T) || T <- [X, Y, bit_size(Z), Z, byte_size(B), <<B/binary, 6>>, <<(id(1)):3>>, <<(id(-1)):16/little>>, <<(id(1.5))/float>>,
        << <<(C + 1)>> || <<C>> <= B >>, binary_part(B, 1, 2), binary_to_list(B), list_to_binary([1, [2, <<3>>]]), <<"h", (id($é))/utf8>>]],
    ok.
id(X) -> X.
