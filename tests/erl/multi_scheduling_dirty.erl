%% Dirty schedulers while multi-scheduling is blocked, and how many of those for CPU are online.
-module(multi_scheduling_dirty).
-export([main/1]).

main(_) ->
    case erlang:system_info(schedulers) of
        %% There is nothing to block: what it looks like elsewhere.
        1 -> says(lists:duplicate(4, true), [true, true, false], true, true);
        _ -> all()
    end.

all() ->
    Online = erlang:system_info(schedulers_online),
    DirtyOnline = erlang:system_info(dirty_cpu_schedulers_online),
    [{normal, N, Online, Online}, {dirty_cpu, C, DirtyOnline, DirtyOnline}, {dirty_io, I, I, I}] = erlang:system_info(all_schedulers_state),
    {N, Online, Online} = erlang:system_info(schedulers_state),
    blocked_normal = erlang:system_flag(multi_scheduling, block_normal),
    Is = fun(Row, Cpu, Io) -> becomes(fun() -> erlang:system_info(all_schedulers_state) =:= [Row, {dirty_cpu, C, DirtyOnline, Cpu}, {dirty_io, I, I, Io}] end) end,
    Normal = Is({normal, N, Online, 1}, DirtyOnline, I),
    blocked = erlang:system_flag(multi_scheduling, block),
    All = Is({normal, N, Online, 1}, 0, 0),
    %% What needs a dirty scheduler is done, one after the other.
    Took = took(fun() -> at_a_time([fun() -> ok = erts_debug:Kind(wait, 50) end || Kind <- [dirty_cpu, dirty_io, dirty_cpu, dirty_io]]) end),
    {N, Online, 1} = erlang:system_info(schedulers_state),
    blocked = erlang:system_flag(multi_scheduling, unblock_normal),
    enabled = erlang:system_flag(multi_scheduling, unblock),
    Again = Is({normal, N, Online, Online}, DirtyOnline, I),
    %% At once again: two waits of 200 ms in less than twice that.
    AtOnce = DirtyOnline < 2 orelse took(fun() -> at_a_time([fun() -> ok = erts_debug:dirty_cpu(wait, 200) end || _ <- [1, 2]]) end) < 399,
    Flag = fun(Value) -> try erlang:system_flag(dirty_cpu_schedulers_online, Value) of _ -> true catch error:badarg -> false end end,
    Range = [Flag(1), becomes(fun() -> erlang:system_info(dirty_cpu_schedulers_online) =:= 1 end), Flag(0) orelse Flag(min(C, Online) + 1) orelse Flag(a)],
    1 = erlang:system_flag(dirty_cpu_schedulers_online, DirtyOnline),
    becomes(fun() -> erlang:system_info(dirty_cpu_schedulers_online) =:= DirtyOnline end),
    %% With one scheduler there is one for CPU, and as many as before with as many.
    Online = erlang:system_flag(schedulers_online, 1),
    One = becomes(fun() -> erlang:system_info(dirty_cpu_schedulers_online) =:= 1 end),
    1 = erlang:system_flag(schedulers_online, Online),
    says([Normal, All, Again, AtOnce], Range, Took >= 200, One),
    erlang:system_flag(dirty_cpu_schedulers_online, DirtyOnline).

says(States, Range, OneAfterTheOther, One) ->
    t:w(states, States), t:w(range, Range), t:w(one_after_the_other, OneAfterTheOther), t:w(one, One).

took(F) -> T = erlang:monotonic_time(millisecond), F(), erlang:monotonic_time(millisecond) - T.

at_a_time(Fs) ->
    [receive {'DOWN', M, _, _, normal} -> ok end || {_, M} <- [spawn_monitor(F) || F <- Fs]].

%% Stock's dirty schedulers follow a moment later.
becomes(F) -> t:wait_until(F), F().
