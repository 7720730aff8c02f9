%% Messages of growing size to an echo process.
-module(msg_sizes).
-export([main/1, group/0]).

group() -> message.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    P = spawn_link(fun echo/0), [[begin P ! {self(), T}, receive {echo, _} -> ok end end || _ <- lists:seq(1, 300)] || T <- [lists:seq(1, S) || S <- [1, 10, 100, 1000, 5000]] ++ [binary:copy(<<1>>, 100000), #{a => {b, [c]}}]], ok.

echo() -> receive {From, T} -> From ! {echo, T}, echo() end.
