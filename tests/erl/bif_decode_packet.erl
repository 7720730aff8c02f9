%% erlang:decode_packet for each kind of packet.
-module(bif_decode_packet).
-export([main/1]).

main(_) -> [t:e({T, B}, fun() -> erlang:decode_packet(T, B, []) end) || {T, B} <- [{raw, <<"abc">>}, {raw, <<>>}, {1, <<2, "abc">>}, {1, <<5, "a">>}, {2, <<0, 1, "xy">>}, {4, <<0, 0, 0, 2, "ab">>}, {4, <<0>>}, {line, <<"one\ntwo">>}, {line, <<"no end">>}, {http, <<"GET /a?b HTTP/1.1\r\nHost: x\r\n">>}, {http_bin, <<"HTTP/1.0 404 Not Found\r\nx">>}, {httph, <<"Content-Length: 5\r\n\r\n">>}, {httph_bin, <<"X-Own: v\r\n\r\n">>}, {httph, <<"\r\n">>}, {http, <<"junk\r\n">>}, {asn1, <<2, 1, 5, 9>>}, {cdr, <<1, 2, 3>>}, {sunrm, <<128, 0, 0, 1, 7, 8>>}, {fcgi, <<1, 1>>}, {tpkt, <<3, 0, 0, 5, 1, 2>>}, {foo, <<1>>}, {raw, x}]], t:w(options, [erlang:decode_packet(line, <<"long line\nx">>, [{line_length, 4}]), erlang:decode_packet(2, <<0, 9, "123456789">>, [{packet_size, 5}]), erlang:decode_packet(line, <<"a;b">>, [{line_delimiter, $;}])]).
