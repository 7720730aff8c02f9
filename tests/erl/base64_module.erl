%% base64: lengths, alphabets, padding, errors.
-module(base64_module).
-export([main/1]).

main(_) ->
    [t:w(B, {base64:encode(B), base64:decode(base64:encode(B)) =:= B, base64:encode(B, #{mode => urlsafe, padding => false})}) || B <- [<<>>, <<1>>, <<1, 2>>, <<1, 2, 3>>, <<255, 254, 253, 252>>, <<"hello world">>]], t:w(list, {base64:encode_to_string("abc"), base64:decode_to_string("YWJj"), base64:decode("YW Jj\n")}), [t:e(B, fun() -> base64:decode(B) end) || B <- [<<"a">>, <<"ab">>, <<"ab=c">>, <<"!!!!">>, <<"YQ==">>, <<"YQ=">>, x]], t:w(mime, base64:mime_decode(<<"Y!W#J$j">>)), t:w(large, erlang:md5(base64:encode(binary:copy(<<1, 2, 3, 4, 5>>, 10000)))).
