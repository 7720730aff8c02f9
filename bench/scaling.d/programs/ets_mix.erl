%% Sixteen processes on one public table. Variants say which table and which mix:
%%   set, ordered_set               insert, lookup, update_counter and delete in equal parts; the options of ets:new/2 alone
%%   set_tuned, ordered_set_tuned   the same with {write_concurrency, auto} and {read_concurrency, true}
%%   set_read, ordered_set_read     99 lookups of 100, the other one an update_counter
-module(ets_mix).
-export([prepare/2, run/1, check/2]).

-define(WORKERS, 16).
-define(KEEP, 500).         %% a worker deletes what it inserted this many steps before
-define(COUNTERS, 1024).
-define(LOADED, 20000).     %% objects that the lookups of the read mix find

prepare(Variant, Scale) ->
    {Type, Options, Mix} = variant(Variant),
    {Type, Options, Mix, scaling:times(case Mix of mixed -> 80000; reading -> 200000 end, Scale)}.

variant(set) -> {set, [], mixed};
variant(ordered_set) -> {ordered_set, [], mixed};
variant(set_tuned) -> {set, tuned(), mixed};
variant(ordered_set_tuned) -> {ordered_set, tuned(), mixed};
variant(set_read) -> {set, [{read_concurrency, true}], reading};
variant(ordered_set_read) -> {ordered_set, [{read_concurrency, true}], reading}.

tuned() -> [{write_concurrency, auto}, {read_concurrency, true}].

%% The table is a process's other than the main one, so that its making counts as work.
run({Type, Options, Mix, Steps}) ->
    Main = self(),
    [Result] = scaling:collect([spawn_link(fun() -> Main ! {self(), owner(Type, Options, Mix, Steps)} end)]),
    Result.

owner(Type, Options, Mix, Steps) ->
    T = ets:new(table, [Type, public | Options]),
    [ets:insert(T, {{counter, C}, 0}) || C <- lists:seq(0, ?COUNTERS - 1)],
    [ets:insert(T, {N, -N}) || Mix =:= reading, N <- lists:seq(1, ?LOADED)],
    Owner = self(),
    Found = scaling:collect([spawn_link(fun() -> Owner ! {self(), worker(Mix, T, W, Steps)} end) || W <- lists:seq(1, ?WORKERS)]),
    Counted = lists:sum([N || C <- lists:seq(0, ?COUNTERS - 1), {_, N} <- ets:lookup(T, {counter, C})]),
    {Found, Counted, ets:info(T, size)}.

worker(mixed, T, W, Steps) -> mixed(T, W, 1, Steps, W * 7919, 0);
worker(reading, T, W, Steps) -> reading(T, Steps, W * 7919, 0).

mixed(_, _, N, Steps, _, Found) when N > Steps -> Found;
mixed(T, W, N, Steps, R0, Found) ->
    R = scaling:lcg(R0),
    true = ets:insert(T, {key(W, N), N}),
    %% One of its own: what it finds does not depend on the others, though they write to the same table.
    Back = (R bsr 8) rem ?KEEP,
    Here = length(ets:lookup(T, key(W, N - Back))),
    ets:update_counter(T, {counter, (R bsr 12) rem ?COUNTERS}, 1),
    true = ets:delete(T, key(W, N - ?KEEP)),
    mixed(T, W, N + 1, Steps, R, Found + Here).

%% Keys of all workers lie between each other.
key(W, N) -> N * ?WORKERS + W.

reading(_, 0, _, Found) -> Found;
reading(T, N, R0, Found) when N rem 100 =:= 0 ->
    R = scaling:lcg(R0),
    ets:update_counter(T, {counter, (R bsr 12) rem ?COUNTERS}, 1),
    reading(T, N - 1, R, Found);
reading(T, N, R0, Found) ->
    R = scaling:lcg(R0),
    Key = 1 + (R bsr 8) rem ?LOADED,
    [{Key, Value}] = ets:lookup(T, Key),
    reading(T, N - 1, R, Found - Value).

check({_, _, mixed, Steps}, {Found, Counted, Size}) ->
    %% A lookup fails only where it reaches before the first key, which is in a worker's first steps.
    Counted =:= ?WORKERS * Steps andalso Size =:= ?COUNTERS + ?WORKERS * min(?KEEP, Steps)
        andalso Found =:= [expected(1, Steps, W * 7919, 0) || W <- lists:seq(1, ?WORKERS)];
check({_, _, reading, Steps}, {Found, Counted, Size}) ->
    Counted =:= ?WORKERS * (Steps div 100) andalso Size =:= ?COUNTERS + ?LOADED
        andalso Found =:= [read(Steps, W * 7919, 0) || W <- lists:seq(1, ?WORKERS)].

expected(N, Steps, _, Found) when N > Steps -> Found;
expected(N, Steps, _, Found) when N >= ?KEEP -> Found + Steps - N + 1;
expected(N, Steps, R0, Found) ->
    R = scaling:lcg(R0),
    expected(N + 1, Steps, R, Found + case (R bsr 8) rem ?KEEP < N of true -> 1; false -> 0 end).

read(0, _, Found) -> Found;
read(N, R0, Found) ->
    R = scaling:lcg(R0),
    read(N - 1, R, case N rem 100 of 0 -> Found; _ -> Found + 1 + (R bsr 8) rem ?LOADED end).
