%% heddle_sched: where processes run, also other ones and under load; schedulers that are kept for some; and what is refused.
-module(heddle_placement).
-export([main/1]).

main(_) ->
    N = erlang:system_info(schedulers),
    Online = erlang:system_info(schedulers_online),
    Load = [spawn_link(fun spin/0) || _ <- lists:seq(1, 2 * min(N, 4))],
    io:format("pinned: ~p~n", [[pinned(S) || S <- some(Online)] =:= [ok || _ <- some(Online)]]),
    started(Online),
    others(Online),
    moved(Online),
    isolated(Online),
    offline(Online),
    refused(N),
    [begin unlink(P), exit(P, kill) end || P <- Load],
    io:format("left: ~p~n", [{heddle_sched:isolated(), maps:get(place, heddle_sched:place(self()))}]).

some(N) -> lists:usort([1, (N + 1) div 2, N]).

spin() -> lists:sum(lists:seq(1, 100)), spin().

id() -> erlang:system_info(scheduler_id).

pinned(S) ->
    ok = heddle_sched:pin(self(), S),
    S = id(),
    #{place := {pinned, S}, last := S} = heddle_sched:place(self()),
    {placement, #{place := {pinned, S}}} = process_info(self(), placement),
    erlang:yield(),
    S = id(),
    S = process_flag(scheduler, 0),
    #{place := any} = heddle_sched:place(self()),
    ok.

%% Answers where it runs, each time it is asked.
answer() -> receive {From, where} -> From ! {self(), id()}, answer(); stop -> ok end.

where(P) -> P ! {self(), where}, receive {P, S} -> S end.

stop(P) ->
    M = monitor(process, P),
    P ! stop,
    receive {'DOWN', M, _, _, Reason} -> Reason end.

started(N) ->
    Pinned = spawn_opt(fun answer/0, [{scheduler, N}]),
    Free = spawn_opt(fun answer/0, [{queue, N}]),
    io:format("started: ~p~n", [{[where(Pinned) || _ <- [1, 2, 3]] =:= [N, N, N], where(Free) =< N}]),
    #{place := {pinned, N}} = heddle_sched:place(Pinned),
    #{place := any} = heddle_sched:place(Free),
    [normal, normal] = [stop(P) || P <- [Pinned, Free]],
    Self = self(),
    F = spawn_opt(fun() -> Self ! {self(), id()} end, [{queue, N}]),
    io:format("its first turn: ~p~n", [receive {F, S} -> S =:= N end]).

others(N) ->
    P = spawn(fun answer/0),
    Places = [begin ok = heddle_sched:pin(P, S), [#{place := {pinned, S}}] = [At || {X, At} <- heddle_sched:list(), X =:= P], [where(P), where(P)] =:= [S, S] end
              || S <- some(N) ++ some(N)],
    ok = heddle_sched:unpin(P),
    io:format("another: ~p~n", [{lists:usort(Places), maps:get(place, heddle_sched:place(P))}]),
    normal = stop(P),
    %% One that never waits.
    Busy = spawn(fun() -> count(#{}) end),
    Seen = [begin ok = heddle_sched:pin(Busy, S), is_only_on(S, Busy, 50) end || S <- some(N)],
    exit(Busy, kill),
    io:format("one that is busy: ~p~n", [lists:usort(Seen)]).

%% Sooner or later: the slice in which it is moved ends where it began, and a thread may have no core for long.
is_only_on(_, _, 0) -> false;
is_only_on(S, Busy, Times) ->
    Busy ! {forget, self()},
    receive {Busy, _} -> ok end,
    receive after 20 -> ok end,
    Busy ! {tell, self()},
    receive {Busy, M} -> maps:keys(M) =:= [S] orelse is_only_on(S, Busy, Times - 1) end.

count(Seen) ->
    receive
        {forget, From} -> From ! {self(), Seen}, count(#{});
        {tell, From} -> From ! {self(), Seen}, count(Seen)
    after 0 -> count(Seen#{id() => true})
    end.

moved(N) ->
    P = spawn(fun answer/0),
    ok = heddle_sched:move(P, N),
    _ = where(P),
    any = maps:get(place, heddle_sched:place(P)),
    ok = heddle_sched:pin(P, 1),
    ok = heddle_sched:move(P, N),
    io:format("moved: ~p~n", [{where(P) =:= N, maps:get(place, heddle_sched:place(P)) =:= {pinned, N}}]),
    normal = stop(P).

isolated(1) ->
    io:format("kept: ~p~nreleased: ~p~n", [true, {true, true}]);
isolated(N) ->
    Chosen = [spawn(fun() -> count(#{}) end) || _ <- [1, 2]],
    All = [spawn(fun() -> count(#{}) end) || _ <- lists:seq(1, 20)],
    ok = heddle_sched:isolate(N, Chosen),
    [N] = heddle_sched:isolated(),
    receive after 50 -> ok end,
    [forget(P) || P <- All ++ Chosen],
    receive after 100 -> ok end,
    %% Those started there go elsewhere as well.
    Self = self(),
    Child = spawn_opt(fun() -> spawn_link(fun() -> erlang:yield(), Self ! {child, id()} end), receive stop -> ok end end, [{scheduler, N}]),
    Elsewhere = receive {child, C} -> C =/= N end,
    io:format("kept: ~p~n", [{[told(P) || P <- Chosen] =:= [[N], [N]], lists:member(N, lists:append([told(P) || P <- All])), Elsewhere,
                              all_run(All)} =:= {true, false, true, true}]),
    normal = stop(Child),
    %% With fewer online it waits for them to come back; with it alone online it is for all.
    N = erlang:system_flag(schedulers_online, 1),
    [forget(P) || P <- All ++ Chosen],
    receive after 50 -> ok end,
    Few = all_run(All ++ Chosen),
    1 = erlang:system_flag(schedulers_online, N),
    [N] = heddle_sched:isolated(),
    ok = heddle_sched:isolate(N, []),
    ok = heddle_sched:release(N),
    io:format("released: ~p~n", [{Few, heddle_sched:isolated() =:= []}]),
    [exit(P, kill) || P <- All ++ Chosen].

forget(P) -> P ! {forget, self()}, receive {P, _} -> ok end.
told(P) -> P ! {tell, self()}, receive {P, M} -> lists:sort(maps:keys(M)) end.

all_run(Ps) ->
    Before = [reductions(P) || P <- Ps],
    receive after 100 -> ok end,
    lists:all(fun({P, R}) -> reductions(P) > R end, lists:zip(Ps, Before)).

reductions(P) -> {_, R} = process_info(P, reductions), R.

offline(1) -> io:format("offline: ~p~n", [{true, true, true}]);
offline(N) ->
    Waits = spawn_opt(fun answer/0, [{scheduler, N}]),
    Works = spawn_opt(fun() -> count(#{}) end, [{scheduler, N}]),
    N = where(Waits),
    N = erlang:system_flag(schedulers_online, 1),
    receive after 50 -> ok end,
    forget(Works),
    There = {where(Waits), all_run([Works]), told(Works)},
    1 = erlang:system_flag(schedulers_online, N),
    receive after 50 -> ok end,
    forget(Works),
    receive after 50 -> ok end,
    io:format("offline: ~p~n", [{There =:= {1, true, [1]}, where(Waits) =:= N, told(Works) =:= [N]}]),
    exit(Works, kill),
    normal = stop(Waits).

refused(N) ->
    {Dead, M} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', M, _, _, _} -> ok end,
    [begin
         {error, badarg, [{heddle_sched, F, A, [{error_info, _}]} | _] = Trace} = (catch try apply(heddle_sched, F, A) catch C:R:T -> {C, R, T} end),
         [Reason] = maps:to_list(heddle_sched:format_error(badarg, Trace)),
         io:format("~p/~p: ~p~n", [F, length(A), Reason])
     end || {F, A} <- [{pin, [Dead, 1]}, {pin, [self(), 0]}, {pin, [self(), N + 1]}, {pin, [self(), one]}, {pin, [name, 1]}, {unpin, [Dead]},
                       {move, [Dead, 1]}, {move, [self(), -1]}, {private, [Dead]}, {shared, [whereis]}, {isolate, [N + 1, []]},
                       {isolate, [1, [Dead]]}, {isolate, [1, none]}, {release, [1]}, {place, [Dead]}]],
    io:format("~p~n", [[try spawn_opt(fun answer/0, [O]) catch error:E -> E end
                        || O <- [{scheduler, N + 1}, {queue, 0}, {queue, N + 1}, {thread, mine}, {scheduler, -1}]]]),
    Kept = [heddle_sched:isolate(S, []) || S <- lists:seq(2, N)],
    {last, []} = {last, [K || K <- Kept, K =/= ok]},
    io:format("the last one: ~p~n", [try heddle_sched:isolate(1, []) catch error:badarg:T -> heddle_sched:format_error(badarg, T) end]),
    [ok = heddle_sched:release(S) || S <- lists:seq(2, N)].
