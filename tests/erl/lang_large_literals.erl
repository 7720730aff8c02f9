%% Literals of many kinds in code, shared and compared; a function with a large tuple and list.
-module(lang_large_literals).
-export([main/1]).

main(_) ->
    t:w(same, l() =:= l()), t:w(sizes, {length(element(1, l())), map_size(element(2, l())), byte_size(element(3, l())), element(4, l())}), Me = self(), spawn(fun() -> Me ! {lit, l()} end), t:w(sent, receive {lit, X} -> X =:= l() end), t:w(update, maps:get(b, (element(2, l()))#{b := 9})), t:w(flat, erts_debug:size(l()) > 0), garbage_collect(), t:w(gc, erlang:phash2(l())).
l() -> {[1, 2, 3, "abc", {x, [y]}, 1.5, 123456789012345678901234567890], #{a => 1, b => 2, {c} => [d]}, <<"a literal binary that is longer than sixty-four bytes, so that it lives outside of the heap">>, -0.0, <<5:3>>, fun lists:map/2}.
