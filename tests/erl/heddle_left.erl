%% What is left of a peak in places where no thread works any more: areas of threads that sleep, timers of threads without a wheel, and
%% huge pages. Figures of memory that others move as well are looked at until they are right.
-module(heddle_left).
-export([main/1]).

-define(MB, 1_000_000).

main(_) ->
    erts_debug:set_internal_state(available_internal_state, true),
    [io:format("~p ~p~n", [Name, try F() catch C:R:S -> {C, R, S} end])
     || {Name, F} <- [{dirty_threads, fun dirty_threads/0}, {private_timers, fun private_timers/0}, {huge_pages, fun huge_pages/0}]].

kind(Kind) -> maps:get(Kind, maps:get(kinds, heddle_stats:memory())).

%% Up to 20 s: threads look once a second at most, and on a busy machine they come late.
until(IsRight, Look) -> until(IsRight, Look, 400).

until(IsRight, Look, Times) ->
    Seen = Look(),
    case IsRight(Seen) of
        true -> true;
        false when Times =:= 0 -> {left, Seen};
        false -> receive after 50 -> until(IsRight, Look, Times - 1) end
    end.

ended(Ps) -> [receive {'DOWN', M, process, _, normal} -> ok end || {_, M} <- Ps].

%% Each of them reads files, which others hold on to until all threads sleep again.
dirty_threads() ->
    Dir = t:tmp(heddle_left),
    Name = filename:join(Dir, "file"),
    %% Raw: else the file server holds the last binary that it wrote, and with it the area that others took room of. Nothing else in
    %% the machine has binaries of this size, and so a block in one of the areas.
    ok = file:write_file(Name, binary:copy(<<7>>, 300_000), [raw]),
    garbage_collect(),
    Areas = fun() -> kind(binary_alloc) end,
    Before = map_get(area_bytes, Areas()),
    Ps = [spawn_monitor(fun() ->
                            Held = [begin {ok, B} = file:read_file(Name, [raw]), B end || _ <- lists:seq(1, 4)],
                            receive stop -> 4 = length(Held) end
                        end) || _ <- lists:seq(1, 2 * erlang:system_info(dirty_io_schedulers))],
    %% Some of them may lie in areas that were there before.
    Peak = until(fun(#{bytes := Bytes}) -> Bytes >= 4 * 300_000 * length(Ps) end, Areas),
    receive after 2500 -> ok end,
    [P ! stop || {P, _} <- Ps],
    ended(Ps),
    ok = file:del_dir_r(Dir),
    {Peak, until(fun(#{area_bytes := Bytes}) -> Bytes < Before + ?MB end, Areas)}.

%% They go with their process, and their places as well.
private_timers() ->
    Used = fun() -> erts_debug:set_internal_state(wait, timer_cancellations), map_get(bytes, kind(std_alloc)) end,
    Set = fun(N) ->
              {P, M} = spawn_opt(fun() ->
                                     [erlang:send_after(3_600_000, self(), never) || _ <- lists:seq(1, N)],
                                     receive stop -> ok end
                                 end, [monitor, {thread, private}]),
              {P, M}
          end,
    %% What the first ones need stays.
    First = Set(1),
    element(1, First) ! stop,
    ended([First]),
    Before = Used(),
    Ps = [Set(10_000) || _ <- lists:seq(1, 4)],
    Peak = until(fun(Bytes) -> Bytes > Before + 3 * ?MB end, Used),
    [P ! stop || {P, _} <- Ps],
    ended(Ps),
    {Peak, until(fun(Bytes) -> Bytes < Before + ?MB end, Used)}.

%% Opened at the peak, if the system has them; closed after it.
huge_pages() ->
    Are = fun() -> {ok, Maps} = file:read_file("/proc/self/smaps", [raw]), binary:match(Maps, <<" hg">>) =/= nomatch end,
    HasThem = case file:read_file("/sys/kernel/mm/transparent_hugepage/enabled", [raw]) of {ok, How} -> binary:match(How, <<"[never]">>) =:= nomatch; _ -> false end,
    {P, M} = spawn_monitor(fun() -> Held = [binary:copy(<<N>>, 1 bsl 20) || N <- lists:seq(1, 400)], receive stop -> 400 = length(Held) end end),
    %% Schedulers look now and then.
    Switching = fun() -> [erlang:yield() || _ <- lists:seq(1, 2000)], Are() end,
    Opened = until(fun(Open) -> Open =:= HasThem end, Switching),
    %% They also see how large it becomes, and close below a quarter of it.
    true = until(fun(Status) -> Status =:= {status, waiting} end, fun() -> process_info(P, status) end),
    Switching(),
    P ! stop,
    ended([{P, M}]),
    {Opened, until(fun(Open) -> not Open end, Are)}.
