%% apply with more arguments than a function can have, and checksums put together of nothing. (257 arguments are left out: stock calls
%% a fun of one argument with them.)
-module(apply_many).
-export([main/1]).
t(F) -> io:format("~p~n", [try F() catch C:R:S -> {C, case R of {badarity,{X,A}} -> {badarity,X,length(A)}; _ -> R end, [{M,Fn,if is_list(Ar)->length(Ar);true->Ar end,L}||{M,Fn,Ar,L}<-lists:sublist(S,3)]} end]).
main(_) ->
  F = fun(X) -> X end, G = fun lists:append/2,
  [begin L = lists:seq(1,N),
   t(fun() -> nt(F, L) end), t(fun() -> tl1(F,L) end), t(fun() -> nt(G,L) end), t(fun() -> tl1(G,L) end),
   t(fun() -> nt2(F, L) end) , t(fun() -> nt2(G, L) end), t(fun() -> tl2(G, L) end) , t(fun() -> tl3(L) end),t(fun() -> tl4(nofun,L) end)
   end || N <- [1,2,3,10,255,256,300,1021,1022,1023,1024,1025,5000]],
  t(fun() -> tl1(F,a) end), t(fun() -> nt(F,[a|b]) end), t(fun() -> nt(a,[a|b]) end),  t(fun() -> tl1(a,[a]) end), t(fun() -> nt(a,[a]) end),
  t(fun() -> erlang:crc32_combine(1,1,0) end),t(fun() -> erlang:crc32_combine(12345,54321,1) end),t(fun() -> erlang:crc32_combine(12345,54321,1000000007) end),t(fun() -> erlang:adler32_combine(1,1,0) end),t(fun() -> erlang:adler32_combine(123123,4321,0) end),
  t(fun() -> erlang:adler32_combine(123123,4321,1000000) end), t(fun() -> erlang:adler32_combine(16#ffffffff,16#ffffffff,1000000) end),
  t(fun() -> erlang:adler32_combine(16#ffffffff,16#ffffffff,0) end), t(fun() -> erlang:crc32_combine(16#ffffffff,16#ffffffff,1 bsl 32) end), t(fun() -> erlang:crc32_combine(16#ffffffff,16#ffffffff,1 bsl 62) end), t(fun() -> erlang:adler32_combine(16#ffffffff,16#ffffffff,1 bsl 63) end),
  t(fun() -> erlang:adler32_combine(5,16#ffffffff,1 bsl 31) end).
nt(F, L) ->
  X = apply(F, L),
  {x, X}.
tl1(F, L) ->
  apply(F, L).
nt2(F, L) ->
  X = erlang:apply(lists, append, L),
  {x, X, F}.
tl2(F, L) ->
  erlang:apply(F, append, L).
tl3(L) ->
  apply(lists, append, L).
tl4(F,L) ->
  apply(lists, F, L).
