%% What an emulator counts about its schedulers, as far as it counts it.
%%
%% `context_switches` and `collections` come from statistics/1. Migrations, steals, wake-ups and lock waits have no standard
%% place. They are looked for where an emulator may have them, and are `missing` otherwise:
%%   * heddle_stats:schedulers() -> [#{migrations => N, steals => N, wake_ups => N, lock_waits => N, lock_wait_ns => N}],
%%     a map per scheduler in which any key may be absent;
%%   * lock waits: the lock counter of OTP's lcnt, in an emulator built with it (system_info(lock_counting)); its figures
%%     are those of the machine, not of a scheduler.
-module(scaling_counters).
-export([read/0, difference/2]).

-define(PER_SCHEDULER, [migrations, steals, wake_ups, lock_waits, lock_wait_ns]).

read() ->
    Schedulers = schedulers(),
    Locks = locks(),
    [{context_switches, element(1, erlang:statistics(context_switches))},
     {collections, element(1, erlang:statistics(garbage_collection))}
     | [{Name, first([per_scheduler(Name, Schedulers), proplists:get_value(Name, Locks, missing)])} || Name <- ?PER_SCHEDULER]].

difference(Before, After) -> lists:zipwith(fun({Name, B}, {Name, A}) -> {Name, minus(A, B)} end, Before, After).

minus(missing, _) -> missing;
minus(_, missing) -> missing;
minus(A, B) when is_list(A), length(A) =:= length(B) -> lists:zipwith(fun erlang:'-'/2, A, B);
minus(A, B) when is_integer(A), is_integer(B) -> A - B;
minus(_, _) -> missing.

first([missing | Rest]) -> first(Rest);
first([Found | _]) -> Found;
first([]) -> missing.

schedulers() ->
    case code:ensure_loaded(heddle_stats) of
        {module, M} ->
            case erlang:function_exported(M, schedulers, 0) of
                true -> M:schedulers();
                false -> []
            end;
        _ -> []
    end.

per_scheduler(Name, Maps) ->
    case [maps:get(Name, Map) || Map <- Maps, is_map_key(Name, Map)] of
        Values when Values =/= [], length(Values) =:= length(Maps) -> Values;
        _ -> missing
    end.

%% {Duration, [{Name, Id, Type, [{Place, {Tries, Collisions}, {Seconds, Nanoseconds, Waits}, Histogram}]}]}
locks() ->
    case erlang:system_info(lock_counting) of
        true ->
            {locks, Locks} = lists:keyfind(locks, 1, erts_debug:lcnt_collect()),
            Places = [P || Lock <- Locks, P <- element(4, Lock)],
            [{lock_waits, lists:sum([Collisions || {_, {_, Collisions}, _, _} <- Places])},
             {lock_wait_ns, lists:sum([S * 1000000000 + Ns || {_, _, {S, Ns, _}, _} <- Places])}];
        _ -> []
    end.
