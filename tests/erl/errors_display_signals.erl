%% How `erlang:display_string` and `os:set_signal` fail, and what explains it.
-module(errors_display_signals).
-export([main/1]).

main(_) ->
    [t:e({display_string, Device, Text}, fun() -> erlang:display_string(Device, Text) end)
     || {Device, Text} <- [{stdin, "x"}, {stdin, <<"x">>}, {stdin, 1}, {no_device, "x"}, {1, "x"}, {stdout, x}, {stdout, [a]}, {stdout, [$a | $b]}, {stderr, <<1:7>>}, {stderr, [-1]}]],
    [t:e({display_string, Text}, fun() -> erlang:display_string(Text) end) || Text <- [x, [a], 1, [$a | $b], <<1:7>>, {}]],
    [t:e({set_signal, Signal, Option}, fun() -> os:set_signal(Signal, Option) end)
     || {Signal, Option} <- [{sigkill, handle}, {sigstop, ignore}, {no_signal, default}, {1, default}, {"sigterm", ignore}, {sigterm, bad}, {sigusr1, 1}, {no_signal, bad}, {sigint, ignore}, {sigsegv, ignore}]],
    t:w(set, [os:set_signal(Signal, Option) || Signal <- [sigusr1, sighup], Option <- [ignore, handle, default]]).
