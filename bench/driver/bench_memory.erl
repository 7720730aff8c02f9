%% What processes cost in resident memory: `@memory NAME BYTES`, printed by each of the measurements below.
-module(bench_memory).
-export([main/1, idle/0, idle_used/0]).

-define(PROCESSES, 100000).

main(["base"]) ->
    %% What a machine that just started has settled to.
    timer:sleep(500),
    say("base", resident());
main(["idle"]) ->
    each("idle", fun() -> spawn(?MODULE, idle, []) end);
main(["idle_used"]) ->
    %% Each was sent a message, answered, and waits again.
    each("idle_used", fun() ->
        Pid = spawn(?MODULE, idle_used, []),
        Pid ! {self(), hello},
        receive {Pid, hello} -> Pid end
    end);
%% A gigabyte is taken by others and let go.
main(["left_processes"]) ->
    left("left_processes", fun() ->
        each_ends([fun() -> L = lists:seq(1, 60000), receive stop -> length(L) end end || _ <- lists:seq(1, 1000)])
    end);
main(["left_binaries"]) ->
    left("left_binaries", fun() ->
        each_ends([fun() -> L = [binary:copy(<<1>>, 10000) || _ <- lists:seq(1, 100000)], receive stop -> length(L) end end])
    end);
main(["left_tables"]) ->
    left("left_tables", fun() ->
        each_ends([fun() ->
            T = ets:new(t, [public]),
            fill(T, 5000000),
            receive stop -> T end
        end])
    end).

fill(_, 0) -> ok;
fill(T, N) -> ets:insert(T, {N, N, [N, N, N, N, N, N, N, N, N, N]}), fill(T, N - 1).

each_ends(Funs) ->
    Me = self(),
    All = [spawn_monitor(fun() -> Me ! {self(), ready}, F() end) || F <- Funs],
    [receive {Pid, ready} -> ok end || {Pid, _} <- All],
    rises(resident(), 0),
    Peak = resident(),
    [Pid ! stop || {Pid, _} <- All],
    [receive {'DOWN', Ref, _, _, normal} -> ok end || {_, Ref} <- All],
    Peak.

%% Until it is no larger than half a second before, twice.
rises(_, 2) -> ok;
rises(Before, N) ->
    timer:sleep(500),
    Now = resident(),
    rises(Now, if Now > Before + 1000000 -> 0; true -> N + 1 end).

%% What is resident five seconds later, above the start; and, as another figure, what was at most.
left(Name, Peak) ->
    timer:sleep(500),
    Before = resident(),
    Highest = Peak(),
    timer:sleep(5000),
    io:format("@peak ~s ~w~n", [Name, Highest - Before]),
    say(Name, max(0, resident() - Before)).

each(Name, Start) ->
    %% The list of pids and what the loop needs are there before the first look.
    Warm = [Start() || _ <- lists:seq(1, 1000)],
    garbage_collect(),
    Before = resident(),
    Pids = [Start() || _ <- lists:seq(1, ?PROCESSES)],
    timer:sleep(500),
    After = resident(),
    say(Name, (After - Before) div ?PROCESSES),
    length(Warm) + length(Pids).

say(Name, Bytes) ->
    io:format("@memory ~s ~w~n", [Name, Bytes]).

idle() ->
    receive stop -> ok end.

idle_used() ->
    receive {From, hello} -> From ! {self(), hello} end,
    receive stop -> ok end.

%% Resident bytes of this program.
resident() ->
    {ok, Status} = file:read_file("/proc/self/status"),
    {match, [KB]} = re:run(Status, "VmRSS:\\s*(\\d+)", [{capture, all_but_first, list}]),
    list_to_integer(KB) * 1024.
