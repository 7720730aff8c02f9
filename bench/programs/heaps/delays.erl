%% Does the collection of one process delay others? Processes that wait are woken every millisecond, and tell how long it took from the send
%% until they ran: while no other process runs, while one process computes, and while one with a large heap collects it.
%%
%%     delays:main([MegaBytes, SecondsEach])  prints
%%     @heap_type TYPE
%%     @slice NS                         what a slice of 4,000 reductions of the computing process takes
%%     @delay PHASE FROM_NS COUNT        a class of the histogram of delays: alone, computes, collects
%%     @longest PHASE NS
%%     @collected ROUNDS MICROSECONDS    how many collections of the large heap there were meanwhile, and what they took
%%     @pause KIND FROM_NS COUNT         a class of heddle_stats:pauses() over the last phase, where that is
%%     @time MICROSECONDS                of all
%%     @ok
-module(delays).
-export([main/1]).

-define(PAIRS, 8).
-define(SLICE, 4000).
%% Classes a power of two of ns, in eighths.
-define(CLASSES, 64 * 8).

main([MegaBytes, Seconds]) ->
    Ms = round(list_to_float(Seconds) * 1000),
    Start = erlang:monotonic_time(microsecond),
    io:format("@heap_type ~w~n@slice ~w~n", [erlang:system_info(heap_type), slice()]),
    phase(alone, fun() -> receive after infinity -> ok end end, Ms),
    phase(computes, fun compute/0, Ms),
    Me = self(),
    Large = spawn_link(fun() -> large(Me, list_to_integer(MegaBytes)) end),
    receive {Large, ready} -> ok end,
    Before = pauses(),
    phase(collects, Large, Ms),
    told(Before, pauses()),
    receive {Large, collected, Rounds, Micros} -> io:format("@collected ~w ~w~n", [Rounds, Micros]) end,
    io:format("@time ~w~n@ok~n", [erlang:monotonic_time(microsecond) - Start]).

slice() ->
    spin(?SLICE),
    lists:min([element(1, timed(fun() -> spin(?SLICE) end)) || _ <- lists:seq(1, 50)]).

timed(F) ->
    Start = erlang:monotonic_time(nanosecond),
    Result = F(),
    {erlang:monotonic_time(nanosecond) - Start, Result}.

spin(0) -> ok;
spin(N) -> spin(N - 1).

compute() -> spin(100000), compute().

phase(Name, Fun, Ms) when is_function(Fun) ->
    Other = spawn(Fun),
    measured(Name, Ms),
    exit(Other, kill);
phase(Name, Large, Ms) ->
    Large ! collect,
    measured(Name, Ms),
    Large ! stop.

%% ---- those that are woken ----

measured(Name, Ms) ->
    Classes = counters:new(?CLASSES, []),
    Longest = atomics:new(1, []),
    Pairs = [spawn_monitor(fun() -> wake(spawn_link(fun() -> woken(Classes, Longest) end)) end) || _ <- lists:seq(1, ?PAIRS)],
    receive after Ms -> ok end,
    [begin exit(Pid, shutdown), receive {'DOWN', Monitor, process, Pid, _} -> ok end end || {Pid, Monitor} <- Pairs],
    [io:format("@delay ~w ~w ~w~n", [Name, from(C), N]) || C <- lists:seq(1, ?CLASSES), N <- [counters:get(Classes, C)], N > 0],
    io:format("@longest ~w ~w~n", [Name, atomics:get(Longest, 1)]).

wake(Other) ->
    receive after 1 -> Other ! erlang:monotonic_time(nanosecond) end,
    wake(Other).

woken(Classes, Longest) ->
    receive Sent ->
        Delay = max(1, erlang:monotonic_time(nanosecond) - Sent),
        counters:add(Classes, class(Delay), 1),
        longest(Longest, Delay)
    end,
    woken(Classes, Longest).

longest(Longest, Delay) ->
    case atomics:get(Longest, 1) of
        Most when Most >= Delay -> ok;
        Most -> atomics:compare_exchange(Longest, 1, Most, Delay) =:= ok orelse longest(Longest, Delay)
    end.

class(Ns) ->
    Bits = bits(Ns, 0),
    1 + Bits * 8 + ((Ns * 8) bsr Bits - 8).

bits(1, Bits) -> Bits;
bits(Ns, Bits) -> bits(Ns bsr 1, Bits + 1).

%% The least delay of a class, in ns.
from(Class) ->
    Bits = (Class - 1) div 8,
    ((8 + (Class - 1) rem 8) bsl Bits) div 8.

%% ---- the one that collects ----

%% Two words a cell and ten a tuple with its header.
large(Main, MegaBytes) ->
    Live = [{N, N, N, N, N, N, N, N, N} || N <- lists:seq(1, MegaBytes * 1024 * 1024 div 96)],
    garbage_collect(),
    Main ! {self(), ready},
    receive collect -> ok end,
    {Rounds, Micros} = collect(0, 0),
    Main ! {self(), collected, Rounds, Micros},
    receive {still, From} -> From ! length(Live) end.

collect(Rounds, Micros) ->
    receive stop -> {Rounds, Micros}
    after 0 ->
        {Took, _} = timed(fun() -> garbage_collect() end),
        %% Then some that come by themselves.
        300000 = length(lists:seq(1, 300000)),
        collect(Rounds + 1, Micros + Took div 1000)
    end.

%% ---- what the machine tells ----

pauses() ->
    case code:ensure_loaded(heddle_stats) of
        {module, M} -> M:pauses();
        _ -> none
    end.

told(none, none) -> ok;
told(Before, After) ->
    [begin
         #{Kind := #{histogram := H0}} = Before,
         #{Kind := #{histogram := H1}} = After,
         Old = maps:from_list(H0),
         [io:format("@pause ~w ~w ~w~n", [Kind, From, N - maps:get(From, Old, 0)]) || {From, N} <- H1, N > maps:get(From, Old, 0)]
     end || Kind <- [minor, major]].
