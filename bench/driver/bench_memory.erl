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
    end).

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
