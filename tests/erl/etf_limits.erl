%% Encoded terms above limits of the machine are bad arguments, whatever the limit.
-module(etf_limits).
-export([main/1]).
main(_) -> [io:format("~s ~0p~n", [L, try byte_size(term_to_binary(binary_to_term(B))) catch C:R:S -> {C,R,element(2,hd(S))} end]) || {L,B} <- 
 [{big_short, <<131,111,16#7fffffff:32,0,1>>}, {big_cut, <<131,111,1000000:32,0,1>>}, {big_huge, <<131,111,600000:32,0,1:4800000>>},{big_4M, <<131,111,524288:32,0,0:4194296,127>>},{big_4Mp, <<131,111,524289:32,0,0:4194304,127>>}, {big_4z, <<131,111,524289:32,0,1,0:4194304>>}, {a_utf_bad, <<131,118,300:16,255,0:2392>>},{big_8, <<131,111,8000000:32,0,1:64000000/little>>},{big_8z, <<131,111,600000:32,0,1:4800000/little>>},
  {atom, <<131,100,300:16,1:2400>>}, {atomcut,<<131,100,300:16,1>>}, {utf, <<131,118,300:16,(binary:copy(<<"a">>,300))/binary>>}, {utfcut, <<131,118,300:16,"a">>}, {utf255, <<131,118,510:16,(binary:copy(<<"å"/utf8>>,255))/binary>>}, {utf256, <<131,118,512:16,(binary:copy(<<"å"/utf8>>,256))/binary>>},
  {tuple, <<131,105,16#ffffffff:32>>}, {tuple2, <<131,105,16777216:32>>}, {tuple3, <<131,105,16777216:32, (binary:copy(<<97,1>>,16777216))/binary>>}, {list,<<131,108,16#ffffffff:32>>}, {map,<<131,116,16#ffffffff:32>>}, {bin,<<131,109,16#ffffffff:32>>}]].
