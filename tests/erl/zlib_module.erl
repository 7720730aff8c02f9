%% Compress and uncompress, streams, checksums, damaged data.
-module(zlib_module).
-export([main/1]).

main(_) ->
    D = binary:copy(<<"the same text again and again, ">>, 1000),
    t:w(round_trips, [zlib:uncompress(zlib:compress(D)) =:= D, zlib:gunzip(zlib:gzip(D)) =:= D, zlib:unzip(zlib:zip(D)) =:= D, byte_size(zlib:compress(D)) < 1000, zlib:compress(<<>>)]),
    Z = zlib:open(), zlib:deflateInit(Z, 9), C = [zlib:deflate(Z, <<"part one ">>), zlib:deflate(Z, [<<"part ">>, "two"], sync), zlib:deflate(Z, <<" end">>, finish)], zlib:deflateEnd(Z), zlib:close(Z), t:w(stream, zlib:uncompress(iolist_to_binary(C))),
    Y = zlib:open(), zlib:inflateInit(Y), B = iolist_to_binary(C), t:w(inflate_pieces, iolist_to_binary([zlib:inflate(Y, binary:part(B, N, 1)) || N <- lists:seq(0, byte_size(B) - 1)])), zlib:inflateEnd(Y), zlib:close(Y), X = zlib:open(), zlib:inflateInit(X), t:w(safe, begin {S, O} = zlib:safeInflate(X, zlib:compress(D)), {S, iolist_size(O) > 0} end), zlib:close(X),
    t:e(damaged, fun() -> zlib:uncompress(<<1, 2, 3>>) end), t:e(truncated, fun() -> zlib:uncompress(binary:part(zlib:compress(D), 0, 20)) end), t:e(not_gzip, fun() -> zlib:gunzip(<<"plain text here">>) end), t:e(bad, fun() -> zlib:compress(t:id(x)) end), t:e(closed, fun() -> zlib:deflate(Z, <<"x">>) end), t:w(raw, begin R = zlib:open(), zlib:deflateInit(R, default, deflated, -15, 8, default), Q = iolist_to_binary(zlib:deflate(R, <<"raw">>, finish)), zlib:close(R), zlib:unzip(Q) end).
