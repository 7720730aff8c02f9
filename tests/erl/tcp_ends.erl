%% How connections end: half closed and kept open, told once; and closed by a send that took too long, which the owner is not told.
-module(tcp_ends).
-export([main/1]).
main(_) -> half(), half2(), timeout(true), timeout(false).
pair(CO, SO) ->
  {ok,L}=gen_tcp:listen(0,[binary,{active,false},{ip,{127,0,0,1}}|SO]), {ok,P}=inet:port(L),
  {ok,C}=gen_tcp:connect({127,0,0,1},P,[binary|CO]), {ok,S}=gen_tcp:accept(L), gen_tcp:close(L), {C,S}.
half() ->
  {C,S}=pair([{exit_on_close,false},{active,true}],[]),
  gen_tcp:shutdown(S,write), timer:sleep(100),
  io:format("half1 ~p~n",[f(C)]),
  A=inet:setopts(C,[{active,true}]), timer:sleep(50), io:format("half2 ~p ~p~n",[A,f(C)]),
  B=inet:setopts(C,[{active,once}]), timer:sleep(50), io:format("half3 ~p ~p~n",[B,f(C)]),
  B2=inet:setopts(C,[{active,5}]), timer:sleep(50), io:format("half3b ~p ~p ~p~n",[B2,f(C),inet:getopts(C,[active])]),
  io:format("send ~p~n",[gen_tcp:send(C,"abc")]), io:format("recv ~p~n",[gen_tcp:recv(S,0,1000)]),
  inet:setopts(C,[{active,false}]),
  io:format("recv ~p~n",[gen_tcp:recv(C,0,300)]), io:format("recv ~p~n",[gen_tcp:recv(C,0,300)]),
  io:format("send ~p ~p~n",[gen_tcp:send(C,"abc"),f(C)]),
  C3=inet:setopts(C,[{active,true}]), timer:sleep(50), io:format("half4 ~p ~p~n",[C3,f(C)]),
  gen_tcp:close(C), io:format("closed ~p~n",[f(C)]).
half2() ->
  {C,S}=pair([{exit_on_close,false},{active,false}],[]),
  gen_tcp:shutdown(S,write), timer:sleep(100),
  io:format("p1 ~p~n",[gen_tcp:recv(C,0,300)]), io:format("p2 ~p~n",[gen_tcp:recv(C,0,300)]),
  [begin A=inet:setopts(C,[{active,X}]), timer:sleep(50), io:format("p3 ~p ~p ~p~n",[X,A,f(C)]) end || X <- [true,false,true,once,false,once,2,false,2]],
  io:format("send ~p~n",[gen_tcp:send(C,"abc")]), io:format("recv ~p~n",[gen_tcp:recv(S,0,1000)]),
  gen_tcp:close(S), timer:sleep(50), io:format("~p~n",[{gen_tcp:send(C,"a"),timer:sleep(20),gen_tcp:send(C,"a"),f(C)}]), gen_tcp:close(C).
timeout(Active) ->
 [begin
  {C,S}=pair([{active,Active},{send_timeout,100},{send_timeout_close,Cl},{exit_on_close,E}],[]),
  F=fun G(N) -> case gen_tcp:send(C,binary:copy(<<0>>,100000)) of ok when N < 500 -> G(N+1); R -> R end end,
  R1=F(0), timer:sleep(50), 
  io:format("to ~p: ~p ~p~n",[{Active,Cl,E},R1,f(C)]),
  case Cl of true ->
  io:format("   send ~p recv ~p peer ~p info ~p opts ~p getopts ~p ~p~n",[catch gen_tcp:send(C,"x"),catch gen_tcp:recv(C,0,100),inet:peername(C),erlang:port_info(C)=/=undefined, inet:setopts(C,[{active,false}]), inet:getopts(C,[active]), f(C)]),
  io:format("   send ~p recv ~p ~p~n",[catch gen_tcp:send(C,"x"),catch gen_tcp:recv(C,0,100),inet:setopts(C,[{active,true}])]), timer:sleep(30), io:format("   ~p~n",[f(C)]);
  false -> ok end,
  gen_tcp:close(S), timer:sleep(20), gen_tcp:close(C) end || Cl <- [true,false], E <- [true,false]].
f(C) -> receive {_,C} = M -> [element(1,M)|f(C)]; {X,C,Y} -> [{X,Y}|f(C)] after 0 -> [] end.
