%% What memory is told to be: erlang:memory/0,1 moves by what a program takes and comes back; the questions of observer, recon and
%% instrument get answers in their shapes; heddle_stats counts which thread allocates and which frees. Where heddle_stats is not, its checks
%% are passed over, so that the expected output can be recorded there.
-module(own_memory).
-export([main/1]).

main(_) ->
    Own = case code:ensure_loaded(heddle_stats) of {module, _} -> true; {error, nofile} -> false end,
    %% First, as what others took and left would be in the way.
    check(given_back, fun() -> not Own orelse given_back() end),
    [check(Name, F) || {Name, F} <- [{binaries, fun binaries/0}, {tables, fun tables/0}, {processes, fun processes/0},
                                     {atoms, fun atoms/0}, {sums, fun sums/0}, {allocators, fun allocators/0},
                                     {sizes, fun sizes/0}, {carriers, fun carriers/0}, {allocations, fun allocations/0},
                                     {errors, fun errors/0}]],
    [check(Name, fun() -> not Own orelse F() end) || {Name, F} <- [{own_shapes, fun own_shapes/0}, {own_counts, fun own_counts/0},
                                                                 {own_for_others, fun own_for_others/0}]].

check(Name, F) ->
    io:format("~p ~p~n", [Name, try F() catch C:R:S -> {C, R, S} end]).

-define(MB, 1_000_000).

%% Another process takes, so that all of it is gone when it ends. Within 10 %, and 2 MB of what others do.
moves(Key, Bytes, Take) ->
    erlang:garbage_collect(),
    Before = erlang:memory(Key),
    {Pid, Ref} = spawn_monitor(fun() -> Held = Take(), receive {P, ask} -> P ! {self(), erlang:memory(Key)} end,
                                        receive stop -> length(Held) end end),
    Pid ! {self(), ask},
    Peak = receive {Pid, M} -> M end,
    Pid ! stop,
    receive {'DOWN', Ref, _, _, normal} -> ok end,
    Grown = Peak - Before,
    case Grown >= Bytes andalso Grown =< Bytes * 11 div 10 + 2 * ?MB of
        true -> comes_back(Key, Before, 500);
        false -> {grown, Grown, of_, Bytes}
    end.

comes_back(Key, Before, 0) -> {left, erlang:memory(Key) - Before};
comes_back(Key, Before, N) ->
    case erlang:memory(Key) - Before < 2 * ?MB of
        true -> true;
        false -> timer:sleep(20), comes_back(Key, Before, N - 1)
    end.

binaries() -> moves(binary, 30 * ?MB, fun() -> [binary:copy(<<N>>, 10_000) || N <- lists:seq(1, 3000)] end).

%% An object of a tuple of six words and a list of twenty.
tables() ->
    Words = 3000 * 26,
    Before = erlang:memory(ets),
    T = ets:new(t, [public]),
    [ets:insert(T, {N, a, b, c, lists:seq(1, 10)}) || N <- lists:seq(1, 3000)],
    Grown = erlang:memory(ets) - Before,
    true = Grown >= Words * 8 andalso Grown < Words * 8 * 2 + ?MB,
    Told = ets:info(T, memory) * erlang:system_info(wordsize),
    true = abs(Grown - Told) < Told div 2 + ?MB,
    ets:delete(T),
    comes_back(ets, Before, 500).

%% The words that the processes say they have.
processes() ->
    Before = erlang:memory(processes),
    Me = self(),
    Pids = [spawn_opt(fun() -> Me ! {self(), ready}, receive stop -> ok end end, [{min_heap_size, 20_000}]) || _ <- lists:seq(1, 300)],
    [receive {P, ready} -> ok end || P <- Pids],
    Told = lists:sum([element(2, process_info(P, memory)) || P <- Pids]),
    Grown = erlang:memory(processes) - Before,
    [P ! stop || P <- Pids],
    case Grown > Told * 8 div 10 - 2 * ?MB andalso Grown < Told * 13 div 10 + 4 * ?MB of
        true -> comes_back(processes, Before, 500);
        false -> {grown, Grown, told, Told}
    end.

atoms() ->
    Before = erlang:memory(atom_used),
    New = [list_to_atom("own_memory_atom_" ++ integer_to_list(100_000 + N)) || N <- lists:seq(1, 2000)],
    erlang:memory(atom_used) - Before >= length(New) * 22.

sums() ->
    M = maps:from_list(erlang:memory()),
    #{total := Total, processes := Processes, processes_used := Used, system := System, atom := Atom, atom_used := AtomUsed,
      binary := Binary, code := Code, ets := Ets} = M,
    [true, true, true, true, true] = [Total =:= Processes + System, Processes >= Used, Atom >= AtomUsed,
                                      System >= Atom + Binary + Code + Ets, lists:all(fun(V) -> V > 0 end, maps:values(M))],
    [{total, _}, {ets, _}] = erlang:memory([total, ets]),
    true.

%% {Allocator, Version, Features, Settings}: those with figures are features. What says that it is off has no settings to change.
allocators() ->
    {_, Version, Features, Settings} = erlang:system_info(allocator),
    true = lists:all(fun is_integer/1, Version) andalso lists:all(fun is_atom/1, Features),
    Util = erlang:system_info(alloc_util_allocators),
    [] = Util -- Features,
    Off = [A || {A, Options} <- Settings, is_list(Options), lists:member({e, false}, Options)],
    [] = [A || A <- Off, erlang:system_flag(erts_alloc, {A, sbct, 12345}) =/= notsup],
    true = lists:all(fun(A) -> is_list(erlang:system_info({allocator, A})) end, Util),
    false = erlang:system_info({allocator, test_alloc}),
    true.

%% What observer adds up, and recon: in each instance.
sizes() ->
    Util = erlang:system_info(alloc_util_allocators),
    Bin = binary:copy(<<1>>, 3 * ?MB),
    Instances = [{A, N, Data} || {A, Is} <- erlang:system_info({allocator_sizes, Util}), {instance, N, Data} <- Is],
    [begin
         {blocks, _} = lists:keyfind(blocks, 1, element(2, lists:keyfind(Part, 1, Data))),
         {carriers_size, Now, Since, Highest} = lists:keyfind(carriers_size, 1, element(2, lists:keyfind(Part, 1, Data))),
         true = Now =< Since andalso Since =< Highest
     end || {_, _, Data} <- Instances, Part <- [mbcs, sbcs]],
    Sum = fun(A) -> lists:sum([case Size of {size, S, _, _} -> S; {size, S} -> S end
                               || {B, _, Data} <- Instances, A =:= B, {Part, Items} <- Data, lists:member(Part, [mbcs, sbcs, mbcs_pool]),
                                  {_, [Size]} <- proplists:get_value(blocks, Items)]) end,
    Carriers = fun(A) -> lists:sum([element(2, lists:keyfind(carriers_size, 1, Items))
                                    || {B, _, Data} <- Instances, A =:= B, {Part, Items} <- Data,
                                       lists:member(Part, [mbcs, sbcs, mbcs_pool])]) end,
    true = Sum(binary_alloc) >= byte_size(Bin),
    [] = [A || A <- Util, Sum(A) > Carriers(A)],
    true = lists:all(fun(A) -> Sum(A) > 0 end, [eheap_alloc, binary_alloc, ets_alloc, literal_alloc]),
    %% With more detail.
    [_ | _] = Counts = [{C, S} || {instance, _, Data} <- erlang:system_info({allocator, binary_alloc}), {_, Items} <- Data,
                                  is_list(Items), {blocks, [{binary_alloc, Figures}]} <- Items, {count, C, _, _} <- Figures,
                                  {size, S, _, _} <- Figures],
    [] = [B || {C, S} = B <- Counts, C > S],
    byte_size(Bin) =:= 3 * ?MB.

carriers() ->
    Bins = [binary:copy(<<N>>, 1000) || N <- lists:seq(1, 2000)],
    {ok, {512, Carriers}} = instrument:carriers(#{allocator_types => [binary_alloc]}),
    true = lists:all(fun({binary_alloc, InPool, Total, Unscanned, Allocations, Free}) ->
                         is_boolean(InPool) andalso Unscanned =< Total andalso tuple_size(Free) =:= 14
                             andalso lists:sum([Size || {_, _, Size} <- Allocations]) =< Total
                     end, Carriers),
    Blocks = lists:sum([Count || {_, _, _, _, Allocations, _} <- Carriers, {_, Count, _} <- Allocations]),
    Blocks >= length(Bins).

%% Ten blocks of nine megabytes: in the interval from 8 to 16.
allocations() ->
    Count = fun() ->
        {ok, {1048576, _, #{system := #{binary := Histogram}}}} =
            instrument:allocations(#{allocator_types => [binary_alloc], histogram_start => 1048576, histogram_width => 6}),
        6 = tuple_size(Histogram),
        element(5, Histogram)
    end,
    Before = Count(),
    Bins = [binary:copy(<<N>>, 9 * ?MB) || N <- lists:seq(1, 10)],
    After = Count(),
    After - Before =:= 10 andalso length(Bins) =:= 10.

errors() ->
    Bad = [fun() -> erlang:memory(nosuch) end, fun() -> erlang:memory(maximum) end, fun() -> erlang:memory([total, nosuch]) end,
           fun() -> erlang:system_info({allocator, nosuch}) end, fun() -> erlang:system_info({allocator_sizes, nosuch}) end,
           fun() -> instrument:carriers(#{histogram_width => 0}) end, fun() -> instrument:allocations(#{allocator_types => [nosuch]}) end,
           fun() -> instrument:allocations(#{scheduler_ids => [100_000]}) end],
    [error] = lists:usort([try F() catch C:badarg -> C end || F <- Bad]),
    true.

%% ---- only here ----

own_shapes() ->
    All = #{kinds := Kinds, resident_bytes := Resident, reserved_bytes := Reserved} = heddle_stats:memory(),
    [binary_alloc, eheap_alloc, ets_alloc, std_alloc] = lists:sort(maps:keys(Kinds)),
    [true = Blocks =< B andalso B =< A andalso Bytes >= 0 || #{bytes := Bytes, blocks := Blocks, block_bytes := B, area_bytes := A}
        <- maps:values(Kinds)],
    true = Reserved >= 0 andalso Resident > ?MB,
    true = lists:all(fun(V) -> is_integer(V) andalso V >= 0 end, maps:values(maps:remove(kinds, All))),
    Keys = [blocks_allocated, blocks_freed, blocks_freed_for_others, bytes_allocated, bytes_freed, bytes_freed_for_others, kept_bytes],
    Keys = lists:sort(maps:keys(heddle_stats:memory(1))),
    [error, error] = [try heddle_stats:memory(Id) catch C:badarg -> C end || Id <- [0, x]],
    true.

%% The thread that does it counts it: allocated and freed, to the block.
own_counts() ->
    #{bytes_allocated := A1, bytes_freed := F1} = heddle_stats:memory(),
    Pids = [spawn_monitor(fun() -> [binary:copy(<<N>>, 100_000) || N <- lists:seq(1, 100)] end) || _ <- lists:seq(1, 10)],
    [receive {'DOWN', Ref, _, _, _} -> ok end || {_, Ref} <- Pids],
    #{bytes_allocated := A2} = heddle_stats:memory(),
    Freed = fun Wait(0) -> false;
                Wait(N) -> #{bytes_freed := F2} = heddle_stats:memory(),
                           F2 - F1 >= 100 * ?MB orelse begin timer:sleep(10), Wait(N - 1) end
            end,
    A2 - A1 >= 100 * ?MB andalso Freed(500).

%% Allocated on one scheduler, freed on the other: the other counts it, both binaries and messages. With one scheduler there is
%% no thread to do it for.
own_for_others() ->
    N = 2000,
    #{blocks_freed_for_others := B1, bytes_freed_for_others := Bytes1, bytes_freed := Freed} = heddle_stats:memory(),
    Last = erlang:system_info(schedulers_online),
    Me = self(),
    {Consumer, Ref} = spawn_opt(fun() -> Held = [receive B when byte_size(B) =:= 1000 -> B end || _ <- lists:seq(1, N)],
                                         Me ! received, receive go -> length(Held) end end, [monitor, {scheduler, Last}]),
    {_, Done} = spawn_opt(fun() -> [Consumer ! binary:copy(<<M>>, 1000) || M <- lists:seq(1, N)] end, [monitor, {scheduler, 1}]),
    receive {'DOWN', Done, _, _, normal} -> ok end,
    receive received -> ok end,
    %% Its heap goes after its end is told.
    timer:sleep(100),
    Consumer ! go,
    receive {'DOWN', Ref, _, _, normal} -> ok end,
    case erlang:system_info(heap_type) of
        %% The process that collects frees: this one, or another one, of what this one or the others allocated.
        shared -> freed_by_all(Freed + N * 1000, 100);
        _ -> freed_for_others(B1 + N, Bytes1 + N * 1000, Last > 1, 100)
    end.

freed_by_all(Bytes, Tries) ->
    garbage_collect(),
    case heddle_stats:memory() of
        #{bytes_freed := Freed} when Freed >= Bytes -> true;
        Memory when Tries =:= 0 -> {Memory, wanted, Bytes};
        _ -> timer:sleep(20), freed_by_all(Bytes, Tries - 1)
    end.

freed_for_others(_, _, false, _) -> true;
freed_for_others(Blocks, Bytes, true, Tries) ->
    case heddle_stats:memory() of
        #{blocks_freed_for_others := B, bytes_freed_for_others := S} when B >= Blocks, S >= Bytes -> true;
        Memory when Tries =:= 0 -> {Memory, wanted, Blocks, Bytes};
        _ -> timer:sleep(20), freed_for_others(Blocks, Bytes, true, Tries - 1)
    end.

%% What a peak took is gone some seconds after it: of 200 MB no more than a fifth stays.
given_back() ->
    resident() > 0 andalso begin
        Before = resident(),
        {Pid, Ref} = spawn_monitor(fun() -> Held = [binary:copy(<<N>>, 100_000) || N <- lists:seq(1, 2000)],
                                            receive {P, ask} -> P ! {self(), resident()} end, receive stop -> length(Held) end end),
        Pid ! {self(), ask},
        Peak = receive {Pid, R} -> R end,
        Pid ! stop,
        receive {'DOWN', Ref, _, _, normal} -> ok end,
        case Peak - Before > 150 * ?MB of true -> falls(Before + 40 * ?MB, 150); false -> {peak, Peak, before, Before} end
    end.

falls(Limit, 0) -> {resident, resident(), limit, Limit};
falls(Limit, N) -> resident() < Limit orelse begin timer:sleep(100), falls(Limit, N - 1) end.

resident() ->
    {ok, Text} = file:read_file("/proc/self/statm"),
    [_, Pages | _] = binary:split(Text, <<" ">>, [global]),
    binary_to_integer(Pages) * 4096.
