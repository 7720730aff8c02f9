%% erlang:decode_packet of HTTP lines: some of note, then good lines that were changed a little, by a generator; and likewise of other
%% kinds of packets. A difference is found by main([show, Group]), which prints each line of a group.
-module(bif_http_lines).
-export([main/1]).

main([show, Group]) -> [io:format("~0p ~0p~n", [Call, outcome(Call)]) || Call <- group(Group)];
main([many, From, To]) -> [io:format("~b ~b~n", [G, erlang:phash2([outcome(C) || C <- group(G)])]) || G <- lists:seq(From, To)];
main(_) ->
    [t:w(Line, [outcome({http, Line, []}), outcome({http_bin, Line, []})]) || Line <- lines()],
    [t:w(Line, [outcome({httph, Line, []}), outcome({httph_bin, Line, []})]) || Line <- headers()],
    [t:w({group, G}, erlang:phash2([outcome(C) || C <- group(G)])) || G <- lists:seq(1, 40)].

outcome({Kind, Packet, Options}) ->
    try erlang:decode_packet(Kind, Packet, Options) catch _:Reason -> {failed, Reason} end.

lines() ->
    [<<"GET x HTTP/1.1\r\n">>, <<"GET /x HTTP/1.1;\r\n">>, <<"GET /x HTTP/1.\r\n">>, <<"GET /x HTTP/1.1.1 z\r\n">>, <<"GET /x HTTP/11\r\n">>, <<"GET /x\r\n">>, <<"GET\r\n">>,
     <<"GET \r\n">>, <<"GET /x \t\r\n">>, <<"G\177T /x HTTP/1.1\r\n">>, <<"G\200T /x HTTP/1.1\r\n">>, <<"GET * HTTP/1.0\n">>, <<"GET : HTTP/1.0\n">>, <<"GET a:b HTTP/1.0\n">>,
     <<"GET http:// HTTP/1.0\n">>, <<"GET HTTP://h HTTP/1.0\n">>, <<"GET https://h:0/ HTTP/1.0\n">>, <<"GET http://h:99999999999/ HTTP/1.0\n">>, <<"GET http://[::1]:80/a HTTP/1.0\n">>,
     <<"GET http://[::1]x:80/a HTTP/1.0\n">>, <<"GET http://[::1]80:/a HTTP/1.0\n">>, <<"GET http://[::1/a HTTP/1.0\n">>, <<"GET http://[abc]d/a HTTP/1.0\n">>, <<"GET http://:80 HTTP/1.0\n">>,
     <<"HTTP/1.1 200 OK\r\n">>, <<"HTTP/1.1 200\r\n">>, <<"HTTP/1.1 \r\n">>, <<"HTTP/1.1 abc\r\n">>, <<"HTTP/1.1 200OK\r\n">>, <<"HTTP/1. 200 OK\r\n">>, <<"HTTP/99999999999.4294967295 4294967297 x\r\n">>,
     <<"HTTP/x\r\n">>, <<"HTTP/\r\n">>, <<"HTTP\r\n">>, <<"\r\n">>, <<"\n">>, <<"a\rb\n">>, <<"GET / HTTP/1.1\rx\n">>, <<"GET / HTTP/1.1\r\r\n">>, <<" GET / HTTP/1.1\r\n">>].

headers() ->
    [<<"\r\n">>, <<"\n">>, <<"\r\nx">>, <<"\n x">>, <<"A: b\r\n">>, <<"A: b\r\nx">>, <<"A: b\r\n c\r\nx">>, <<"A:b\r\n\r\n">>, <<"A :b\r\n\r\n">>, <<":b\r\n\r\n">>, <<"A\r\n\r\n">>, <<"content-MD5: x\r\n\r\n">>,
     <<"HOST:  \t x \r\n\r\n">>, <<"a--b-c: x\r\n\r\n">>, <<"a\177: x\r\n\r\n">>, <<"a\344: x\r\n\r\n">>, <<"1a-2B: x\r\n\r\n">>, <<"-a: x\r\n\r\n">>, <<(binary:copy(<<"aB-">>, 17))/binary, ": x\r\n\r\n">>,
     <<(binary:copy(<<"aB">>, 25))/binary, ": x\r\n\r\n">>, <<"A:\r\n\r\n">>, <<"A: b\r\r\nx">>, <<"A: b\rx\nx">>].

%% 250 calls.
group(G) ->
    {Calls, _} = lists:mapfoldl(fun(_, S) -> call(S) end, 7919 * G + 1, lists:seq(1, 250)),
    Calls.

%% Numbers from a linear congruential generator: the same everywhere.
next(S) -> (S * 6364136223846793005 + 1442695040888963407) band 16#ffffffffffffffff.
pick(List, S) -> {lists:nth(1 + (S bsr 33) rem length(List), List), next(S)}.

call(S0) ->
    {Kind, S1} = pick([http, http_bin, httph, httph_bin, http, httph, line, 1, 2, 4, asn1, sunrm, cdr, fcgi, tpkt, ssl_tls], S0),
    {Options, S2} = pick([[], [], [], [], [{packet_size, 10}], [{packet_size, 30}], [{line_length, 10}], [{line_length, 30}], [{packet_size, 20}, {line_length, 8}]], S1),
    {Packet, S3} = packet(Kind, S2),
    {Changed, S4} = change(Packet, S3),
    {{Kind, Changed, Options}, S4}.

packet(Kind, S) when Kind =:= http; Kind =:= http_bin ->
    join([["GET", "POST", "OPTIONS", "Get", "FOO", "HTTP/1.1", "HTTP/1.0", "HTTP/12.34", ""], [" ", " ", "  ", "\t", ""],
          ["/", "/a?b", "*", "x", "a:b", "http://h/p", "https://h:8/", "HTTP://h:x/", "http://[::1]:8/p", "http://[a]", "200", "404", "x y", ""], [" ", " ", "\t ", ""],
          ["HTTP/1.1", "HTTP/1.0", "HTTP/0.9", "OK", "Not Found", "HTTP/1", ""], ["\r\n", "\n", "\r\n", " \r\n", "\r", ""], ["", "x", "\r\n"]], S);
packet(Kind, S) when Kind =:= httph; Kind =:= httph_bin ->
    join([["Host", "content-length", "X-Own", "a-b--c", "SET-COOKIE2", "", "ETag", "x_y", "-a"], [":", ": ", " :", ":\t", ""], ["abc", "a b ", "12", "", "x:y"], ["\r\n", "\n", "\r\n ", "\n\t", ""],
          ["more", "", "B: c"], ["\r\n", "\r\n\r\n", "\n", ""], ["x", "", "\r\n"]], S);
packet(line, S) -> join([["abc", "", "a long line of text", "\r"], ["\n", "\r\n", ""], ["def", "", "\n"]], S);
packet(N, S) when is_integer(N) -> join([[<<5:N/unit:8>>, <<0:N/unit:8>>, <<200:N/unit:8>>, <<20:N/unit:8>>], ["", "abcde", "abcdefghij", "a"], ["", "xyz"]], S);
packet(asn1, S) -> join([[<<2>>, <<31>>, <<31, 129>>, <<31, 1>>, <<255, 200, 3>>, <<>>], [<<3>>, <<129, 3>>, <<130, 0, 3>>, <<132, 0, 0, 0, 2>>, <<133, 0, 0, 0, 0, 1>>, <<128>>, <<>>], ["abc", "ab", "", "abcdef"]], S);
packet(sunrm, S) -> join([[<<128, 0, 0, 3>>, <<0, 0, 0, 3>>, <<127, 255, 255, 255>>, <<0, 0>>], ["abc", "a", "abcdef"]], S);
packet(cdr, S) -> join([["GIOP", "GIOQ"], [<<1, 2, 0, 0>>, <<1, 2, 1, 0>>], [<<3:32>>, <<3:32/little>>, <<200:32>>], ["abc", "", "abcdef"]], S);
packet(fcgi, S) -> join([[<<1>>, <<2>>], [<<1, 0, 1>>], [<<0, 3, 0, 0>>, <<0, 3, 2, 0>>, <<1, 0, 0, 0>>], ["abc", "abcde", "", "abcdefgh"]], S);
packet(tpkt, S) -> join([[<<3, 0>>, <<2, 0>>, <<3, 1>>], [<<0, 7>>, <<0, 4>>, <<0, 3>>, <<1, 0>>], ["abc", "", "abcdef"]], S);
packet(ssl_tls, S) -> join([[<<22>>, <<128>>, <<21>>, <<255>>], [<<3, 3>>, <<6, 1>>, <<20, 1>>], [<<0, 3>>, <<3, 1>>, <<0, 0>>], ["abc", "", "abcdefghijklmnopqrstuvw"]], S).

join(Choices, S) ->
    {Parts, S1} = lists:mapfoldl(fun pick/2, S, Choices),
    {iolist_to_binary(Parts), S1}.

%% One byte changed, left out, doubled or put in; mostly none.
change(B, S) when byte_size(B) > 0 ->
    {What, S1} = pick([none, none, none, change, drop, insert, double, cut], S),
    At = (S1 bsr 33) rem byte_size(B),
    <<Before:At/binary, Byte, After/binary>> = B,
    {New, S2} = pick([0, $\r, $\n, $\s, $\t, $:, $/, $-, $., $0, $9, $a, $Z, $[, $], 127, 128, 255], next(S1)),
    Changed = case What of
        none -> B;
        change -> <<Before/binary, New, After/binary>>;
        drop -> <<Before/binary, After/binary>>;
        insert -> <<Before/binary, New, Byte, After/binary>>;
        double -> <<Before/binary, Byte, Byte, After/binary>>;
        cut -> Before
    end,
    {Changed, S2};
change(B, S) -> {B, S}.
