%% Binary and bitstring tails, sub-binaries of sub-binaries, at odd offsets.
-module(bits_match_tails).
-export([main/1]).

main(_) ->
    B = t:id(<<1, 2, 3, 4, 5, 6, 7, 8, 9, 10:4>>),
    t:w(binary_tail, [case X of <<_:8, R/binary>> -> R; _ -> no end || X <- [B, <<1, 2>>, <<1>>, <<>>]]),
    t:w(unit_tail, [case B of <<_:S, R/binary-unit:16>> -> R; _ -> no end || S <- [4, 8, 12, 20, 36]]),
    t:w(bits_tail, [begin <<_:S, R/bits>> = B, R end || S <- [0, 1, 3, 8, 13, 70, 76]]),
    t:w(sub, [begin <<_:S/bits, R:N/bits, _/bits>> = B, R end || S <- [0, 3, 9], N <- [0, 1, 8, 17, 60]]),
    t:w(chained, (fun() -> <<_:3, R1/bits>> = B, <<_:3, R2/bits>> = R1, <<_:5, R3:20/bits, R4/bits>> = R2, {R1, R2, R3, R4, bit_size(R4)} end)()),
    t:w(equal, (fun() -> <<_:3, R/bits>> = <<0:3, 1, 2, 3>>, {R =:= <<1, 2, 3>>, R == <<1, 2, 3>>, R < <<1, 2, 4>>, R > <<1, 2>>, erlang:phash2(R) =:= erlang:phash2(<<1, 2, 3>>), maps:get(R, #{<<1, 2, 3>> => found})} end)()),
    t:w(concat, (fun() -> <<_:1, R/bits>> = B, <<R/bits, R/bits>> end)()),
    t:w(to_list, (fun() -> <<_:5, R:40/bits, _/bits>> = B, {binary_to_list(R), bitstring_to_list(<<R/bits, 1:1>>), list_to_binary([R, R])} end)()),
    t:w(large, (fun() -> L = binary:copy(<<1, 2, 3>>, 1000), <<_:100/binary, M:500/binary, _/binary>> = L, <<_:7, N:64/bits, _/bits>> = M, {byte_size(M), N, erlang:md5(M), binary:referenced_byte_size(M)} end)()),
    t:w(send, (fun() -> <<_:7, N:1000/bits, _/bits>> = binary:copy(<<5>>, 200), self() ! N, receive N -> erlang:phash2(N) end end)()),
    t:w(io, (fun() -> <<_:4, R:16/bits, _/bits>> = <<4:4, "hello">>, io:format("~s~n", [R]) end)()),
    t:w(named_sizes, (fun() -> Len = t:id(3), <<P1:Len/binary, Q1:Len/unit:2, T1/bits>> = B, {P1, Q1, T1} end)()).
