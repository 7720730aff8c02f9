%% Records of tags, lengths and values are read from a binary, with fields of single bits and numbers of all kinds.
-module(binary_fields).
-export([main/1, group/0]).

group() -> compute.

main(_) ->
    Bytes = iolist_to_binary([field(N) || N <- lists:seq(1, 20000)]),
    bench:time(?MODULE, fun() -> lists:sum([read(Bytes, 0) || _ <- lists:seq(1, 150)]) end).

field(N) ->
    Value = case N rem 5 of
        0 -> <<N:32/little>>;
        1 -> <<(N / 3):64/float>>;
        2 -> <<N:48, (-N):16/signed>>;
        3 -> <<(N rem 32):5, (N rem 2048):11>>;
        4 -> binary:copy(<<N>>, N rem 20)
    end,
    <<1:1, (N rem 5):7, (byte_size(Value)):16, Value/binary>>.

read(<<1:1, Tag:7, Length:16, Value:Length/binary, Rest/binary>>, Sum) -> read(Rest, Sum + value(Tag, Value));
read(<<>>, Sum) -> Sum.

value(0, <<N:32/little>>) -> N;
value(1, <<F:64/float>>) -> trunc(F);
value(2, <<N:48, M:16/signed>>) -> N + M;
value(3, <<A:5, B:11>>) -> A * B;
value(4, Bytes) -> bytes(Bytes, 0).

bytes(<<A, B, Rest/binary>>, Sum) -> bytes(Rest, Sum + A + B);
bytes(<<A>>, Sum) -> Sum + A;
bytes(<<>>, Sum) -> Sum.
