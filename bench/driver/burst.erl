%% A burst from an idle machine: how long until every online scheduler runs its first process (heddle_stats:events/0).
%%
%% burst:run(Runs, Processes) -> [#{busy_ns => [Ns], woken_ns => Ns, spawned_ns => Ns, done_ns => Ns}], a map a run:
%%   busy_ns: for each online scheduler, in order of their numbers, when it had its first work, counted from just before the
%%     first spawn; `never` if it had none. The scheduler of the spawning process is busy from the start: 0.
%%   woken_ns: when the last one was woken for the first time.
%%   spawned_ns, done_ns: when all were spawned, when all had ended.
-module(burst).
-export([run/2, main/1]).

%% What a process does: some 50 microseconds of arithmetic.
-define(ROUNDS, 5000).
-define(IDLE_MS, 300).

%% "RUNS PROCESSES": prints one line a run, times in microseconds, and a summary of the last scheduler's.
main([Runs, Processes]) ->
    Maps = run(list_to_integer(Runs), list_to_integer(Processes)),
    io:format("~8s ~8s ~8s ~8s ~8s ~9s ~9s  us~n", ["woken", "first", "median", "last", "never", "spawned", "done"]),
    [begin
         Busy = lists:sort([Ns || Ns <- All, is_integer(Ns)]),
         io:format("~8w ~8w ~8w ~8w ~8w ~9w ~9w~n",
                   [us(Woken), us(lists:nth(min(2, length(Busy)), Busy)), us(lists:nth((length(Busy) + 1) div 2, Busy)), us(lists:last(Busy)),
                    length(All) - length(Busy), us(Spawned), us(Done)])
     end || #{busy_ns := All, woken_ns := Woken, spawned_ns := Spawned, done_ns := Done} <- Maps],
    Last = lists:sort([lists:max(All) || #{busy_ns := All} <- Maps]),
    io:format("all ~w online schedulers busy after: min ~w, median ~w, max ~w us~n",
              [erlang:system_info(schedulers_online) | [us(T) || T <- [hd(Last), lists:nth((length(Last) + 1) div 2, Last), lists:last(Last)]]]).

us(never) -> never;
us(Ns) -> Ns div 1000.

run(Runs, Processes) -> [once(Processes) || _ <- lists:seq(1, Runs)].

once(Processes) ->
    timer:sleep(?IDLE_MS),
    Left = atomics:new(1, []),
    atomics:put(Left, 1, Processes),
    Me = self(),
    ok = heddle_stats:record(start),
    Home = erlang:system_info(scheduler_id),
    Began = erlang:monotonic_time(nanosecond),
    spawn_all(Processes, fun() -> work(?ROUNDS), atomics:sub_get(Left, 1, 1) =:= 0 andalso (Me ! done) end),
    Spawned = erlang:monotonic_time(nanosecond),
    receive done -> ok end,
    Done = erlang:monotonic_time(nanosecond),
    ok = heddle_stats:record(stop),
    Events = heddle_stats:events(),
    Busy = fun(Id) when Id =:= Home -> 0;
              (Id) ->
                  case [Ns || {Ns, I, busy} <- Events, I =:= Id, Ns >= Began, Ns =< Done] of
                      [First | _] -> First - Began;
                      [] -> never
                  end
           end,
    %% The last of the first wake-ups.
    Wakes = lists:foldl(fun({Ns, _, {wake_up, Id}}, M) when Ns >= Began, not is_map_key(Id, M) -> M#{Id => Ns - Began}; (_, M) -> M end,
                        #{}, Events),
    #{woken_ns => lists:max([0 | maps:values(Wakes)]), busy_ns => [Busy(Id) || Id <- lists:seq(1, erlang:system_info(schedulers_online))], events => Events, began => Began,
      spawned_ns => Spawned - Began, done_ns => Done - Began}.

spawn_all(0, _) -> ok;
spawn_all(N, F) -> spawn(F), spawn_all(N - 1, F).

work(0) -> ok;
work(N) -> work(N - 1).
