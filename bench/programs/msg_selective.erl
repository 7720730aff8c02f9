%% Selective receive past a queue of others, and with marked references.
-module(msg_selective).
-export([main/1, group/0]).

group() -> message.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    [self() ! {junk, N} || N <- lists:seq(1, 1000)], S = spawn_link(fun() -> serve() end), [call(S) || _ <- lists:seq(1, 100000)], scan(2000).

call(S) -> R = make_ref(), S ! {self(), R}, receive {R, ok} -> ok end.

serve() -> receive {P, R} when is_pid(P) -> P ! {R, ok}, serve() end.

scan(0) -> done;
scan(N) -> self() ! {mine, N}, receive {mine, N} -> scan(N - 1) end.
