%% Run in this directory: erlc record_stock.erl; erl -noshell -run record_stock main -s init stop. Long lines of arith.txt were thinned out.
-module(record_stock). -export([main/0]).
hex(B) -> binary:encode_hex(B, lowercase).
terms() ->
 Ints = [0,1,-1,2,127,128,255,256,-128,-129,65535,65536,(1 bsl 27)-1,1 bsl 27,-(1 bsl 27),-(1 bsl 27)-1,(1 bsl 28),(1 bsl 31)-1,1 bsl 31,-(1 bsl 31),-(1 bsl 31)-1,1 bsl 32,(1 bsl 32)-1,
   -(1 bsl 32), (1 bsl 59)-1,1 bsl 59,-(1 bsl 59),-(1 bsl 59)-1,(1 bsl 63)-1,1 bsl 63,-(1 bsl 63),(1 bsl 64)-1,1 bsl 64,-(1 bsl 64),1 bsl 96,1 bsl 127,-(1 bsl 128)+1,1 bsl 200,-(1 bsl 2039),(1 bsl 2040)-1,1 bsl 2040,1 bsl 3000,12345678901234567890],
 Floats = [0.0,-0.0,1.0,-1.0,1.5,0.1,3.14,1.0e22,1.0e23,5.0e-324,2.2250738585072014e-308,1.7976931348623157e308,9007199254740992.0,9007199254740993.0,-1.5e300,1.0e-5,576460752303423488.0,18446744073709551616.0],
 Atoms = [a,b,'',ok,true,false,undefined,'hello world','\x{e9}','\x{ff}a','\x{400}abc','\x{1f600}',list_to_atom(lists:duplicate(255,$x)),list_to_atom(lists:duplicate(255,16#400)),aa,ab,'Z'],
 Bins = [<<>>,<<0>>,<<1,2,3>>,<<"hello">>,<<"hello world!">>,<<"hello world!!">>,binary:copy(<<"abc">>,50),<<1:1>>,<<0:1>>,<<5:3>>,<<1,2,3:4>>,<<255,255,7:7>>,<<1:2>>,binary:copy(<<7>>,64),binary:copy(<<7>>,65),<<"hellp">>,<<"hell">>, <<(binary:copy(<<9>>,70))/binary,3:5>>],
 Lists = [[],[1],[1,2,3],"abc","abcd","abcde",[a],[a,b],[a|b],[1|2],[256],[1,256],[1,a,2],[[]],[[],[]],[[[[]]]],"abc"++[1000],[1,2|<<"x">>],lists:seq(1,300),[1.0,2.0],[-1],["ab","cd"],[1,2,3,4|5]],
 Tuples = [{},{a},{1,2},{1,{2,{3}}},{[],[]},list_to_tuple(lists:seq(1,255)),list_to_tuple(lists:seq(1,256)),{1.0},{a,"abc",<<"abc">>,1.5,1 bsl 70}],
 Maps = [#{},#{a=>1},#{a=>1,b=>2},#{1=>a,1.0=>b},#{"k"=>#{x=>y}},#{#{}=>#{}},#{{a}=>[]},#{a=>2},#{b=>1},#{0.0=>x},#{-0.0=>x},#{1=>1.0},#{1=>1},
   maps:from_list([{I,I*I}||I<-lists:seq(1,32)]), maps:from_list([{I,I*I}||I<-lists:seq(1,33)]), maps:from_list([{I,I*I}||I<-lists:seq(2,34)]), maps:from_list([{I,I*I*1.0}||I<-lists:seq(1,33)]),
   maps:from_list([{{I},[I]}||I<-lists:seq(1,100)]), maps:from_list([{float(I),a}||I<-lists:seq(1,33)]), #{b=>a,a=>b}, [#{a=>#{b=>c}},#{x=>y}]],
 Ext = [binary_to_term(B) || B <- [
   <<131,88,119,3,"a@b",5:32,6:32,7:32>>,<<131,88,119,3,"a@c",5:32,6:32,7:32>>,<<131,88,119,3,"a@b",6:32,5:32,7:32>>,<<131,88,119,3,"a@b",5:32,6:32,8:32>>,<<131,88,119,3,"a@b",99:32,0:32,1:32>>,
   <<131,88,119,13,"nonode@nohost",50:32,0:32,0:32>>,<<131,88,119,13,"nonode@nohost",500:32,3:32,0:32>>, <<131,88,119,13,"nonode@nohost",0:32,1:32,0:32>>,
   <<131,90,3:16,119,3,"a@b",7:32,1:32,2:32,3:32>>,<<131,90,3:16,119,3,"a@b",7:32,1:32,2:32,4:32>>,<<131,90,1:16,119,3,"a@b",7:32,1:32>>,<<131,90,5:16,119,3,"a@b",7:32,1:32,2:32,3:32,4:32,5:32>>,<<131,90,3:16,119,13,"nonode@nohost",0:32,1:32,2:32,3:32>>,<<131,90,2:16,119,3,"a@c",7:32,1:32,2:32>>,
   <<131,120,119,3,"a@b",77:64,7:32>>,<<131,120,119,3,"a@b",(1 bsl 40):64,7:32>>,<<131,120,119,3,"b@b",7:64,7:32>>, <<131,120,119,13,"nonode@nohost",3:64,0:32>>,
   <<131,113,119,5,"lists",119,3,"map",97,2>>,<<131,113,119,5,"lists",119,3,"map",97,3>>,<<131,113,119,6,"erlang",119,1,"+",97,2>>]],
 Funs = funs(),
 Ints++Floats++Atoms++Bins++Lists++Tuples++Maps++Ext++Funs.
funs() -> X = self(), _ = X, A=17, B="free", [fun() -> ok end, fun(Y) -> Y+A end, fun(Y,Z) -> {Y,Z,A,B} end].
rand(0) -> rand_leaf();
rand(D) -> case rand:uniform(8) of
  1 -> [rand(D-1)||_<-lists:seq(1,rand:uniform(5))];
  2 -> list_to_tuple([rand(D-1)||_<-lists:seq(1,rand:uniform(5))]);
  3 -> maps:from_list([{rand(D-1),rand(D-1)}||_<-lists:seq(1,rand:uniform(4))]);
  4 -> [rand(D-1)|rand(D-1)];
  5 -> maps:from_list([{rand(0),rand(D-1)}||_<-lists:seq(1,50)]);
  _ -> rand_leaf() end.
rand_leaf() -> case rand:uniform(8) of
  1 -> rand:uniform(1 bsl rand:uniform(70)) - (1 bsl rand:uniform(60));
  2 -> rand:normal()*math:pow(10,rand:uniform(20)-10);
  3 -> lists:nth(rand:uniform(5),[a,b,c,foo,'bar baz']);
  4 -> rand:bytes(rand:uniform(40));
  5 -> N5 = rand:uniform(20), <<B:N5/bitstring,_/bitstring>> = rand:bytes(5), B;
  6 -> [rand:uniform(255)||_<-lists:seq(1,rand:uniform(9))];
  7 -> rand:uniform(300)-20;
  8 -> lists:nth(rand:uniform(4),[[],{},#{},<<>>]) end.
main() ->
 rand:seed(exsss,{1,2,3}),
 T0 = terms(), R = [X||X<-[rand(3)||_<-lists:seq(1,300)],byte_size(term_to_binary(X))<1500],
 {ok,F} = file:open("terms.txt",[write]),
 [io:format(F,"~s ~b ~b ~b~n",[hex(term_to_binary(T)),erlang:phash2(T,1 bsl 32),erlang:phash(T,1 bsl 32), erlang:phash2(T,1000)])||T<-T0++R, byte_size(term_to_binary(T))<4000],
 file:close(F),
 %% deterministic encodings and minor versions
 {ok,G} = file:open("etf_options.txt",[write]),
 [io:format(G,"~s ~s ~s ~s ~s~n",[hex(term_to_binary(T))|[hex(term_to_binary(T,O))||O<-[[deterministic],[{minor_version,0}],[{minor_version,1}],[{minor_version,2},compressed]]]])||T<-T0++R, byte_size(term_to_binary(T))<3000],
 file:close(G),
 C0 = lists:sublist([T||T<-T0, byte_size(term_to_binary(T))<1500],400),
 C = [lists:nth(I,C0)||I<-lists:seq(1,length(C0))],
 {ok,H} = file:open("cmp.txt",[write]),
 [io:format(H,"~s~n",[hex(term_to_binary(T))])||T<-C],
 io:format(H,"--~n",[]),
 [io:format(H,"~s~n",[[c(A,B)||B<-C]])||A<-C],
 file:close(H),
 {ok,K} = file:open("floats.txt",[write]),
 Fs = floats(),
 [io:format(K,"~s ~s ~s ~s ~s ~s ~s ~s~n",[hex(<<X/float>>),float_to_list(X),float_to_list(X,[short]),dec(X,[{decimals,3}]),dec(X,[{decimals,10},compact]),dec(X,[{decimals,0}]),float_to_list(X,[{scientific,3}]),dec(X,[{decimals,20}])])||X<-Fs],
 file:close(K),
 {ok,I} = file:open("arith.txt",[write]),
 Ns = [0,1,-1,2,-2,3,7,-7,255,(1 bsl 59)-1,1 bsl 59,-(1 bsl 59),-(1 bsl 59)-1,(1 bsl 63),-(1 bsl 63),(1 bsl 64)-1,-(1 bsl 64),12345678901234567890123,-98765432109876543210987654321,(1 bsl 700)+12345,-(1 bsl 700)+999, -(1 bsl 1600), 64, 100, 0.0, 1.5, -2.5e10,1.0e300],
 [io:format(I,"~s ~w ~w ~w~n",[Op,A,B,try op(Op,A,B) catch error:E->E end])||Op<-["+","-","*","div","rem","/","band","bor","bxor"],A<-Ns,B<-Ns],
 [io:format(I,"~s ~w ~w ~w~n",[Op,A,B,try op(Op,A,B) catch error:E->E end])||Op<-["bsl","bsr"],A<-Ns,B<-[0,1,-1,3,59,60,63,64,65,128,-64,-128,-1000,200,1.0]],
 file:close(I),
 {ok,J} = file:open("convert.txt",[write]),
 [io:format(J,"trunc ~s ~w ~w ~w ~w~n",[hex(<<X/float>>),trunc(X),round(X),floor(X),ceil(X)])||X<-Fs,abs(X)<1.0e100],
 [io:format(J,"tofloat ~w ~s~n",[N,hex(<<(float(N))/float>>)])||N<-Ns++[(1 bsl S)+(1 bsl (S-53))+E||S<-[60,64,80,100,128,500,1023],E<-[-1,0,1]]++[rand:uniform(1 bsl (rand:uniform(900)+10))||_<-lists:seq(1,100)],is_integer(N),abs(N) < 1 bsl 1024],
 [io:format(J,"text ~w ~b ~s~n",[N,B,integer_to_list(N,B)])||N<-Ns,is_integer(N),B<-[2,3,8,10,16,36]],
 file:close(J).
dec(X,O) -> try float_to_list(X,O) catch error:badarg -> "badarg" end.
c(A,B) -> 
  X = if A < B -> 0; A == B -> 1; true -> 2 end,
  Y = if A =:= B -> 1; true -> 0 end,
  Z = 1+sign(erts_internal:cmp_term(A,B)),
  $A + X*6 + Y*3 + Z.
sign(N) when N<0 -> -1; sign(0) -> 0; sign(_) -> 1.
op("+",A,B)->A+B;op("-",A,B)->A-B;op("*",A,B)->A*B;op("div",A,B)->A div B;op("rem",A,B)->A rem B;op("/",A,B)->A/B;
op("band",A,B)->A band B;op("bor",A,B)->A bor B;op("bxor",A,B)->A bxor B;op("bsl",A,B)->A bsl B;op("bsr",A,B)->A bsr B.
floats() ->
 [0.45,0.46,0.49999999999999994,1.115,4.35,2.675,1.4999999999999998,0.9999999999999999,0.99951,0.4999999,-0.45,-0.5,-0.4,0.049,0.05,-0.001,1.0e15+0.3,4503599627370497.5,1.0e250,-1.0e250,0.0,-0.0,1.0,-1.0,0.1,0.2,0.3,1.5,2.5,0.5,0.125,0.0625,0.0005,0.0015,0.0025,1.0005,1.0015,1.0025,99.9995,999.9995,123456.7891,5.0e-324,2.2250738585072014e-308,2.2250738585072009e-308,1.7976931348623157e308,-1.7976931348623157e308,
  9007199254740991.0,9007199254740992.0,9007199254740993.0,9007199254740994.0,-9007199254740992.0,4503599627370496.5,1.0e15,1.0e16,1.0e17,123456789012345680.0,12345678901234567.0,4.35,0.1e-6,1.0e-7]
 ++[list_to_float("1.0e"++integer_to_list(E))||E<-lists:seq(-30,30)]++[list_to_float("1.5e"++integer_to_list(E))||E<-lists:seq(-12,25)]++[list_to_float("1.2345678e"++integer_to_list(E))||E<-lists:seq(-12,25)]
 ++[begin <<X/float>> = <<(rand:uniform(2)-1):1,(rand:uniform(2046)):11,(rand:uniform(1 bsl 52)-1):52>>, X end||_<-lists:seq(1,60)]
 ++[begin <<X/float>> = <<0:1,(1023+rand:uniform(80)-30):11,(rand:uniform(1 bsl 52)-1):52>>, X end||_<-lists:seq(1,100)]
 ++[begin <<X/float>> = <<0:12,(rand:uniform(1 bsl 52)-1):52>>, X end||_<-lists:seq(1,10)].
