%% The texts of system_info that tell of processes, code and tables; and the topology of the processors.
-module(system_info_texts).
-export([main/1]).

main(_) ->
    Sleeper = spawn(fun() -> receive stop -> ok end end),
    register(system_info_sleeper, Sleeper),
    Askers = [spawn_monitor(fun() -> [erlang:system_info(procs) || _ <- lists:seq(1, 5)] end) || _ <- lists:seq(1, 3)],
    [receive {'DOWN', M, _, P, normal} -> ok end || {P, M} <- Askers],
    %% Processes of the programs before this one may be on their way out.
    Before = processes(),
    Procs = erlang:system_info(procs),
    After = processes(),
    Sections = [S || S <- binary:split(Procs, <<"=proc:">>, [global]), S =/= <<>>],
    Shown = [list_to_pid(binary_to_list(hd(binary:split(S, <<"\n">>)))) || S <- Sections],
    Stayed = [P || P <- Before, lists:member(P, After)],
    io:format("~p~n", [Stayed -- Shown =:= [] andalso length((Shown -- Before) -- After) =< 3]),
    [Mine] = section(pid_to_list(self()), Sections),
    io:format("~p~n", [has(Mine, ["State: Running", "Message queue length: 0", "Reductions: "])]),
    io:format("~p~n", [[has(S, ["State: ", "Name: system_info_sleeper"]) || S <- section(pid_to_list(Sleeper), Sections)]]),
    Sleeper ! stop,
    Info = erlang:system_info(info),
    io:format("~p~n", [has(Info, ["=memory\n", "processes: ", "=index_table:atom_tab", "=allocated_areas"])]),
    Loaded = erlang:system_info(loaded),
    io:format("~p~n", [has(Loaded, ["Current code: ", "Old code: ", "\nlists ", "\nsystem_info_texts "])]),
    %% Everything goes on afterwards.
    Workers = [spawn_monitor(fun() -> lists:sum(lists:seq(1, 1000)) end) || _ <- lists:seq(1, 100)],
    [receive {'DOWN', R, _, W, normal} -> ok end || {W, R} <- Workers],
    Topology = erlang:system_info(cpu_topology),
    io:format("~p~n", [[Topology =:= erlang:system_info({cpu_topology, What}) || What <- [used, detected]]]),
    io:format("~p~n", [erlang:system_info({cpu_topology, defined})]),
    io:format("~p~n", [Topology =:= undefined orelse length(logical(Topology)) =:= erlang:system_info(logical_processors)]).

section(Pid, Sections) -> [S || S <- Sections, binary:match(S, list_to_binary(Pid ++ "\n")) =:= {0, length(Pid) + 1}].

has(Text, Parts) -> [binary:match(Text, list_to_binary(P)) =/= nomatch || P <- Parts].

logical({logical, N}) -> [N];
logical({_, Inside}) -> logical(Inside);
logical(List) -> lists:flatmap(fun logical/1, List).
