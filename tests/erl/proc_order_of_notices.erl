%% The notices of a process that ends come in the order in which its monitors were made, after its exit signal, from whichever
%% scheduler each monitor was made; monitored_by lists the last monitor first.
-module(proc_order_of_notices).
-export([main/1]).

main(_) ->
    process_flag(trap_exit, true),
    [io:format("~p: ~p~n", [N, ended(N)]) || N <- [1, 2, 3, 5, 12, 40]],
    [io:format("~p without the second: ~p~n", [N, removed(N)]) || N <- [3, 12, 40]],
    [io:format("monitored by ~p: ~p~n", [N, monitored_by(N)]) || N <- [2, 3, 12, 40]],
    io:format("many rounds: ~p~n", [lists:usort([ended(4) || _ <- lists:seq(1, 200)])]).

watched() -> spawn_link(fun() -> receive stop -> ok end end).

%% The next monitor may be made on another scheduler.
watch(P) ->
    Self = self(),
    spawn(fun() -> Self ! go end),
    receive go -> ok end,
    monitor(process, P).

ended(N) ->
    P = watched(),
    Monitors = [{watch(P), I} || I <- lists:seq(1, N)],
    notices(P, Monitors).

removed(N) ->
    P = watched(),
    Monitors = [{watch(P), I} || I <- lists:seq(1, N)],
    {Second, 2} = lists:nth(2, Monitors),
    demonitor(Second),
    notices(P, lists:keydelete(Second, 1, Monitors) ++ [{watch(P), last}]).

notices(P, Monitors) ->
    {End, _} = lists:last(Monitors),
    P ! stop,
    Before = before(End, Monitors),
    [proplists:get_value(End, Monitors) | Before].

before(End, Monitors) ->
    receive
        {'DOWN', End, process, _, normal} -> [];
        {'DOWN', M, process, _, normal} -> [proplists:get_value(M, Monitors) | before(End, Monitors)];
        {'EXIT', _, normal} -> [exit | before(End, Monitors)]
    after 5000 -> [nothing]
    end.

monitored_by(N) ->
    Self = self(),
    P = watched(),
    Watchers = [begin
                    W = spawn(fun() -> monitor(process, P), Self ! {self(), watches}, receive stop -> ok end end),
                    receive {W, watches} -> W end
                end || _ <- lists:seq(1, N)],
    {monitored_by, By} = process_info(P, monitored_by),
    [W ! stop || W <- Watchers],
    By =:= lists:reverse(Watchers).
