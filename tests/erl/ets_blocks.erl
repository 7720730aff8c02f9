%% What tables used is told as free once they are gone, whichever scheduler emptied them: as ets_SUITE checks after each case.
-module(ets_blocks).
-export([main/1]).

main(_) ->
    %% What the first look itself leaves is not in the second.
    _ = blocks(),
    io:format("~p~n", [[one(N) || N <- lists:seq(1, 10)]]).

one(N) ->
    Before = blocks(),
    Table = on(1, fun() ->
                      T = ets:new(t, [public, {heir, whereis(init), none}]),
                      ets:insert(T, [{K, lists:seq(1, 30)} || K <- lists:seq(1, 500)]),
                      T
                  end),
    Full = blocks(),
    on(1 + N rem erlang:system_info(schedulers_online), fun() -> [ets:delete(Table, K) || K <- lists:seq(1, 500)] end),
    0 = ets:info(Table, size),
    %% Blocks go to the scheduler that they came from, a table once no process looks at it any more: after a while.
    Emptied = until(fun(Bytes) -> Bytes < Full - 500 * 30 * 2 * 8 end, 100),
    on(1, fun() -> ets:delete(Table) end),
    {Emptied, until(fun(Bytes) -> Bytes =:= Before end, 100)}.

until(IsRight, Times) ->
    Bytes = blocks(),
    case IsRight(Bytes) of
        true -> ok;
        _ when Times =:= 0 -> Bytes;
        _ -> receive after 50 -> until(IsRight, Times - 1) end
    end.

blocks() -> erts_debug:alloc_blocks_size(ets_alloc).

on(Scheduler, F) ->
    Me = self(),
    P = spawn_opt(fun() -> Me ! {self(), F()} end, [{scheduler, Scheduler}]),
    receive {P, Result} -> Result end.
