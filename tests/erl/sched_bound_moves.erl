%% process_flag(scheduler, N) has moved the process when it returns; processes of low priority get their time although one of
%% high priority keeps the other schedulers busy.
-module(sched_bound_moves).
-export([main/1]).

main(_) ->
    %% More threads that never sleep than the machine has cores only make the test slow.
    All = erlang:system_info(schedulers_online),
    Online = min(All, 8),
    All = erlang:system_flag(schedulers_online, Online),
    Me = self(),
    {P, M} = spawn_monitor(fun() -> move(200, 1, Online) end),
    receive {'DOWN', M, process, P, Reason} -> io:format("~p~n", [Reason]) end,
    0 = process_flag(scheduler, 1),
    1 = process_flag(scheduler, 0),
    %% All but one scheduler have an urgent process for themselves.
    Hogs = [spawn_opt(fun hog/0, [link, {priority, high}, {scheduler, I}]) || I <- lists:seq(2, Online)],
    Workers = [spawn_link(fun() -> work(Me, 50) end) || _ <- lists:seq(1, 50)],
    Done = [receive {done, W} -> ok after 20_000 -> starved end || W <- Workers],
    io:format("~p~n", [lists:usort(Done)]),
    [begin unlink(H), exit(H, kill) end || H <- Hogs],
    Online = erlang:system_flag(schedulers_online, All).

move(0, _, _) -> ok;
move(N, From, Online) ->
    Old = process_flag(scheduler, From),
    true = Old =:= 0 orelse Old =:= (From - 2 + Online) rem Online + 1,
    From = erlang:system_info(scheduler_id),
    move(N - 1, From rem Online + 1, Online).

hog() -> hog().

work(Me, 0) -> Me ! {done, self()};
work(Me, N) -> _ = lists:seq(1, 1000), erlang:yield(), work(Me, N - 1).
