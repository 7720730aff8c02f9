%% JSON text to terms and back.
-module(json_module).
-export([main/1]).

main(_) -> [t:e(S, fun() -> json:decode(S) end) || S <- [<<"null">>, <<"[1, 2.5, -3e2, \"s\", true, false]">>, <<"{\"a\": {\"b\": []}}">>, <<"\"\\u00e9\\n\\ud83d\\ude00\"">>, <<"  12  ">>, <<"[1,]">>, <<"{">>, <<"tru">>, <<"\"unterminated">>, <<"01">>, <<"">>, <<"[1] x">>, <<"\"", 255, "\"">>]], [t:e(T, fun() -> iolist_to_binary(json:encode(T)) end) || T <- [1, 1.5, <<"bin\"\n">>, [1, [2]], #{<<"k">> => null}, #{a => #{1 => true}}, [], #{}, <<"é"/utf8>>, atom, {t}, <<255>>, self]], t:w(large, length(json:decode(iolist_to_binary(json:encode(lists:seq(1, 5000)))))).
