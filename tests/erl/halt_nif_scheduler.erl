%% A halt with flush waits for a function of a NIF library on another scheduler than that of the process that halts:
%% what a scheduler has begun to do nothing else does. With one scheduler there is no such function.
-module(halt_nif_scheduler).
-export([main/1]).

main(_) ->
    spawn_opt(fun halts/0, [{scheduler, 1}]),
    receive after infinity -> ok end.

halts() ->
    halt_nif:start([]),
    Self = self(),
    spawn_opt(fun() -> halt_nif:on_scheduler(Self) end, [{scheduler, 2}]),
    receive runs -> ok end,
    halt(6).
