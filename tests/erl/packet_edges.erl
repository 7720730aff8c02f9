%% decode_packet/3 where headers are cut short, lengths are silly and arguments wrong in several ways at once.
-module(packet_edges).
-export([main/1]).

main(_) ->
    Types = [asn1, 1, 2, 4, 0, raw, line, cdr, sunrm, fcgi, tpkt, http, httph, http_bin, bad, #{}],
    Data = [<<>>, <<1>>, <<166>>, <<166, 192>>, <<31, 129>>, <<16#1f, 16#ff, 16#ff>>, <<48, 128>>, <<48, 130>>, <<48, 132, 255, 255, 255, 255>>,
            <<48, 133, 1, 1, 1, 1, 1>>, <<48, 3, 1, 2>>, <<48, 3, 1, 2, 3, 4>>, <<255, 255, 255, 255, 255>>, <<0, 0, 0, 1, 5>>, <<16#80, 0, 0, 1, 7>>,
            foo, <<1:1>>, <<3, 0, 0, 5, 1>>, <<3, 0, 0, 2>>, <<"GIOP", 1, 0, 0, 0, 0, 0, 0, 1, 9>>, <<"GIOQ", 1, 0, 0, 0, 0, 0, 0, 1, 9>>,
            <<"a\nb">>, <<"a\n b\n">>, <<"ab\n c\nd">>, <<"GET / HTTP/1.1\r\n">>],
    [io:format("~w ~w ~w~n", [Type, Options, [result(Type, D, Options) || D <- Data]]) || Type <- Types, Options <- [[], [{packet_size, 2}], [bad]]].

result(Type, Data, Options) ->
    try erlang:decode_packet(Type, Data, Options)
    catch error:Reason:Stack -> {Reason, element(4, hd(Stack))}
    end.
