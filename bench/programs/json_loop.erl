%% JSON to terms and back.
-module(json_loop).
-export([main/1, group/0]).

group() -> compute.

main(_) ->
    Text = iolist_to_binary(json:encode([#{id => N, name => <<"name ", (integer_to_binary(N))/binary>>, tags => [<<"a">>, <<"b\n">>, null, true],
                                           value => N / 4, inner => #{x => N, y => [N, -N]}} || N <- lists:seq(1, 2000)])),
    bench:time(?MODULE, fun() -> work(Text, 12, 0) end).

work(_, 0, Sum) -> Sum;
work(Text, N, Sum) -> work(Text, N - 1, Sum + iolist_size(json:encode(json:decode(Text)))).
