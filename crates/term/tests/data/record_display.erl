%% Run as: erl -noshell -run record_display main -s init stop > shown 2> hex; display.txt has a line of hex, then a line shown, in turn.
-module(record_display). -export([main/0]).
main() -> [begin erlang:display_string(binary_to_list(binary:encode_hex(term_to_binary(T)))++"\n"), erlang:display(T) end||T<-
[fun lists:map/2,<<1,2,3>>,<<"abc">>,"abc",[1,2,256],#{a=>1},#{"b"=>2.5},<<1:3>>,<<>>,[],{},[a|b],1.0e22,0.1,1 bsl 100,-(1 bsl 70),'a b','\xe9',[228,97],<<"abc\n">>,"a\nb\"c\\",<<"a\"b\\">>,<<"~a">>,<<127>>,
'a\nb\'','\x{400}',<<1,2,3,4:3>>,<<"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz">>,#{},[[a]|"abc"],[a|"abc"],[97|b],
'','A',a@b,'if','_a',true,[7,8,9,10,11,12,13,27,32,126,127],[27],[10,32],[127],[160],[255],[159],<<200,201>>,'abc\xe9',-0.0,"with ~ tilde",{a,"x",<<"y">>,[b,c|d]},
'\t','\x{7f}','\x{1}','\x{a0}','a\\b','\r','\b','\f','\v','\e','\d','a\x{c0}','a\x{d7}','\x{c0}','a\x{aa}','\x{b5}','a\x{b5}','\x{df}x',
[8],[9],[13],[12],[11],[0],[31],[32],[-1],[65|$a],"ab\0c",[[],[1],"a"], list_to_atom([228]), '\x{df}', '\x{f7}', 'div', 'a1', '1a', 'a-b',
[$a,$b|<<"x">>], fun erlang:'+'/2, fun 'a b':'C'/3, lists:seq(1,3), 1.0e100, 123456789.125, -1, 1.0e15,1.0e16, 1.0e21, 0.001, 1.0e-5, 5.0e-324, [$a,1.0], "\e", "\d", 
<<1:1>>,<<255,128:7>>,{{},[{}],#{x=>#{y=>[z|w]}}},[[[]]],["abc",def],{1,2,3},[1.5|2.5], 1.7976931348623157e308]].
