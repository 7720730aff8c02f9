-module(bt).
-export([main/0,id/1]).
id(X)->X.
r(X) -> bt_host:report(X).
t(N,F) -> r({N, try F() catch C:E:S -> {C,E,first(S)} end}).
first([{_,_,A,I}|_]) -> {A,info(I)}.
info([{error_info,#{cause:=C,function:=F,module:=M}}|_]) -> {C,F,M};
info([_|T]) -> info(T);
info([]) -> none.
e(L) -> e(1,L).
e(_,[]) -> ok;
e(N,[F|T]) -> t(N,F), e(N+1,T).
main() ->
 e([
 fun()-> <<(id(foo)):8>> end,
 fun()-> <<(id(1.0)):8>> end,
 fun()-> <<1:(id(foo))>> end,
 fun()-> <<1:(id(-1))>> end,
 fun()-> <<1:(id(1 bsl 70))>> end,
 fun()-> <<1:(id(-(1 bsl 70)))>> end,
 fun()-> <<1:(id(1 bsl 58))/unit:64>> end,
 fun()-> <<1:(id(1 bsl 62))>> end,
 fun()-> <<0,(id(foo))/float>> end,
 fun()-> <<(id(1.0e300)):32/float>> end,
 fun()-> <<(id(70000)):16/float>> end,
 fun()-> <<(id(1.0)):(id(33))/float>> end,
 fun()-> <<(id(1.0)):(id(foo))/float>> end,
 fun()-> <<(id(foo))/binary>> end,
 fun()-> <<0,(id(foo))/binary>> end,
 fun()-> <<0,(id(<<1:3>>))/binary>> end,
 fun()-> <<(id(<<1:3>>))/binary,0>> end,
 fun()-> <<0,(id(<<1,2,3>>)):(id(4))/binary>> end,
 fun()-> <<0,(id(<<1,2,3>>)):(id(-4))/binary>> end,
 fun()-> <<0,(id(foo)):(id(4))/binary>> end,
 fun()-> <<0,(id(16#D800))/utf8>> end,
 fun()-> <<0,(id(foo))/utf8>> end,
 fun()-> <<0,(id(foo))/utf8,1:(id(bar))>> end,
 fun()-> <<0,(id(16#D800))/utf16>> end,
 fun()-> <<0,(id(16#D800))/utf16,1:(id(bar))>> end,
 fun()-> <<0,(id(16#D800))/utf32,1:(id(bar))>> end,
 fun()-> <<0,(id(foo)):32,(id(foo))/utf8>> end,
 fun()-> <<0,(id(foo)):32,(id(foo))/utf16>> end,
 fun()-> <<0,(id(foo)):32,(id(foo))/utf32>> end,
 fun()-> <<0,(id(foo)):32,(id(1)):33/float>> end,
 fun()-> <<0,(id(foo)):32,(id(1)):(id(33))/float>> end,
 fun()-> <<0,(id(foo)):32,(id(1 bsl 3000)):(id(33))/float>> end,
 fun()-> <<0,(id(1 bsl 3000)):(id(33))/float>> end,
 fun()-> <<0,(id(foo)):(id(33))/float>> end,
 fun()-> <<0,(id(foo)):32,(id(<<1,2>>)):3/binary>> end,
 fun()-> <<0,(id(foo)):32,(id(<<1:2>>))/binary>> end,
 fun()-> <<0,(id(16#110000))/utf32>> end,
 fun()-> <<0,(id(foo)):8,1:(id(bar))>> end,
 fun()-> <<(id(foo))/binary,1:(id(bar))>> end,
 fun()-> <<(id(foo))/binary,(id(bar))/binary>> end,
 fun()-> <<(id(<<1>>))/binary,(id(bar))/binary>> end,
 fun()-> <<(id(<<1,2,3>>)):2/binary,"abc",(id(1.5))/float,(id($é))/utf8,(id(16#1F600))/utf16,(id(5)):3,(id(<<5:3>>))/bits>> end,
 fun()-> <<(id(<<1>>))/binary,1:(id(1 bsl 62))>> end,
 fun()-> N=id(-1), <<X:N>> = id(<<1>>),X end,
 fun()-> N=id(foo), <<X:N>> = id(<<1>>),X end,
 fun()-> N=id(12), <<X:N/little-signed,Y/bits>> = id(<<1,255,3>>),{X,Y} end,
 fun()-> N=id(2), <<X:N/binary,Y/binary>> = id(<<1,2,3>>),{X,Y} end,
 fun()-> N=id(9), <<X:N/binary,Y/binary>> = id(<<1,2,3>>),{X,Y} end,
 fun()-> N=id(32), <<X:N/float>> = id(<<1.5:32/float>>),X end,
 fun()-> <<X/float>> = id(<<16#7ff0000000000000:64>>),X end,
 fun()-> <<X:16/float>> = id(<<16#3c01:16>>),X end,
 fun()-> ints(id(<<1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,255,254,253,252,251,250,249,248,247,246,245>>)) end,
 fun()-> utf8(id(<<"aé€😀"/utf8>>),[]) end,
 fun()-> utf8(id(<<"aé",16#c0>>),[]) end,
 fun()-> utf16(id(<<"aé€😀"/utf16-little>>),[]) end,
 fun()-> utf32(id(<<"aé€😀"/utf32>>),[]) end,
 fun()-> app(id(<<>>),0) end,
 fun()-> X = app(id(<<>>),290), {<<X/binary,1:3>>, <<X/binary,2>>} end,
 fun()-> << <<X:3>> || X <- id([1,2,3,4,5,6,7]) >> end,
 fun()-> << <<(X+1):16/little>> || <<X:4>> <= id(<<1,2,3,4>>) >> end,
 fun()-> [X || <<X:5/signed>> <= id(<<1,2,3,4>>)] end,
 fun()-> words(id(<<"hello world of bits">>)) end,
 fun()-> c(id(<<"hello world this is">>)) end,
 fun()-> {c(id(<<1:70,7:3>>)),c(id(<<0:64>>)), c(id(<<16#fedcba9876543210:64,9>>))} end,
 fun()-> B = big(id(<<0:800>>), 0), <<A:200/bits,X:300,_/bits>> = B, {A,X,byte_size(B)} end,
 fun()-> B = big(id(<<0:800>>), 0), <<_:3,A:70/binary,X/bits>> = B, {A,X} end,
 fun()-> <<A:3/binary,_/bits>> = id(<<1,2,3,4>>), <<A/binary, A/binary>> end,
 fun()-> loop(id(<<0:8000>>),0) end,
 fun()-> gc(2000,[]) end,
 fun()-> <<X:64/unsigned,Y:64/signed,Z:60/signed,W:60,V:4/bits>> = id(<<-1:64,-1:64,-2:60,-1:60,3:4>>), {X,Y,Z,W,V} end,
 fun()-> <<(id(<<1:3>>))/binary,(id(foo))>> end,
 fun()-> <<(id(<<1:3>>))/binary,(id(foo))/binary>> end,
 fun()-> case id(foo) of <<A>> -> A; _ -> nobin end end,
 fun()-> hdr(id(<<5:4,4:4,0:8,20:16,1:16,2:3,3:13,64,6,0:16,127,0,0,1,10,0,0,1,"data">>)) end,
 fun()-> sk(id(<<2,"ab",3,"cde",9,"x">>),[]) end
 ]).
ints(<<A:8,B:16,C:32,D:24/little,E:5,F:64/signed,G:3/signed,H:70/little,_/bits>>=X) -> <<_:3,I:8,J:16/signed,K:32,L:64/little-signed,_:60/bits,M/bits>> = X, {A,B,C,D,E,F,G,H,I,J,K,L,M}.
utf8(<<C/utf8,R/binary>>,A) -> utf8(R,[C|A]); utf8(R,A) -> {R,A}.
utf16(<<C/utf16-little,R/binary>>,A) -> utf16(R,[C|A]); utf16(R,A) -> {R,A}.
utf32(<<C/utf32,R/binary>>,A) -> utf32(R,[C|A]); utf32(R,A) -> {R,A}.
app(B,300) -> B;
app(B,N) -> app(<<B/binary,N:8>>,N+1).
words(B) -> words(B,<<>>).
words(<<" ",R/binary>>,A) -> [A|words(R,<<>>)];
words(<<C,R/binary>>,A) -> words(R,<<A/binary,C>>);
words(<<>>,A) -> [A].
c(<<1:70,_/bits>>) -> one; c(<<16#fedcba9876543210:64,A>>) -> A; c(<<"hello world this",T/bits>>) -> {ok,T}; c(B) -> B.
big(B,10) -> B;
big(B,N) -> big(<<B/bits,N:13>>,N+1).
loop(<<_,R/binary>>,N) -> loop(R,N+1);
loop(<<>>,N) -> N.
gc(0,L) -> sum(L,0);
gc(N,L) -> gc(N-1,[<<N:32,(id(<<"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz">>))/binary>>,<<N:700>>,<<N:128>>|L]).
sum([<<N:32,_/binary>>,<<M:700>>,<<K:128>>|T],A) -> sum(T,A+N*M+K);
sum([],A)->A.
hdr(<<V:4,H:4,Tos:8,L:16,Id:16,Fl:3,Off:13,Ttl,P,_:16,S:4/binary,D:4/binary,R/binary>>) -> {V,H,Tos,L,Id,Fl,Off,Ttl,P,S,D,R}.
sk(<<N,_:N/binary,R/binary>>,A) -> sk(R,[N|A]);
sk(<<N,R/binary>>,A) -> {N,R,A}.
