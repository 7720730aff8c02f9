%% Every kind of term, sent to another process and back, is equal to what was sent.
-module(recv_terms).
-export([main/1]).

main({Me, Terms}) -> Me ! {size, length(Terms)};
main(_) ->
    Echo = spawn(fun echo/0),
    Big = binary:copy(<<"0123456789">>, 100),
    <<_:3, Odd:77/bits, _/bits>> = Big,
    Terms = [1, -1, 1 bsl 59, 1 bsl 300, 1.5, a, "str", [], {}, {1, {2, [3]}}, [a | b], #{}, #{a => #{b => []}}, maps:from_keys(lists:seq(1, 100), x), <<>>, <<1, 2, 3>>, <<5:3>>, Big, Odd,
        self(), make_ref(), fun erlang:abs/1, fun(X) -> {X, Big} end, lists:seq(1, 5000), list_to_tuple(lists:seq(1, 1000)), [[[[]]]], {Big, Big, Odd}, lists:duplicate(100, Big), -0.0],
    t:w(echoed, [begin Echo ! {self(), T}, receive R -> R =:= T end end || T <- Terms]),
    F = fun(X) -> {X, Odd} end,
    Echo ! {self(), F},
    t:w(called, receive G -> G(1) =:= F(1) end),
    Echo ! {self(), Terms},
    t:w(together, receive All -> All =:= Terms end),
    t:w(spawn_args, begin Me = self(), spawn(?MODULE, main, [{Me, Terms}]), receive {size, N} -> N end end),
    _ = Echo ! stop, ok.
echo() -> receive {P, T} -> P ! T, echo(); stop -> ok end.
