%% Numbers, texts and terms to formatted text.
-module(text_format).
-export([main/1, group/0]).

group() -> compute.

main(_) -> bench:time(?MODULE, fun() -> work(20000, 0) end).

work(0, Sum) -> Sum;
work(N, Sum) ->
    Line = io_lib:format("~5b ~-12s|~8.3f|~4..0b ~s ~w ~p~n", [N, "name" ++ integer_to_list(N), N / 7, N rem 10000, <<"binary">>, {N, abc}, [N, "text"]]),
    work(N - 1, (Sum * 31 + erlang:crc32(Line)) band 16#ffffffff).
