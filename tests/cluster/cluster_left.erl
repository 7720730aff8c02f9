%% What a node has, and what a phase has left: processes, names, messages, tables, ports, atoms, memory.
-module(cluster_left).
-export([have/0, wrong/1, figures/0]).

%% How much may be more than after the first phase: atoms (of modules and messages that come late), bytes (a part, and as many more).
-define(ATOMS, 400).
-define(BYTES, {0.25, 15000000}).

%% Before all traffic.
have() -> #{processes => processes(), tables => ets:all(), names => registered()}.

figures() ->
    Memory = maps:from_list(erlang:memory()),
    (maps:with([total, binary, ets, processes, code], Memory))#{atoms => erlang:system_info(atom_count), process_count => erlang:system_info(process_count),
        ports => length(erlang:ports()), tables => length(ets:all()), messages => messages(), resident => resident()}.

messages() -> lists:sum([N || P <- processes(), {_, N} <- [process_info(P, message_queue_len)]]).

%% Of the program in the system, in bytes.
resident() ->
    case file:read_file("/proc/self/statm") of
        {ok, Text} -> [_, Pages | _] = string:lexemes(Text, " "), 4096 * binary_to_integer(Pages);
        {error, _} -> 0
    end.

%% [{What, Expected, Found}] when all that ends by itself has had time. Base: what have/0 said, and under `figures` those of the first phase, if there was one.
wrong(Base) ->
    [garbage_collect(P) || P <- processes()],
    cluster_sabotage:is(left) andalso spawn(fun() -> register(cluster_left_over, self()), receive stop -> ok end end),
    wrong(Base, erlang:monotonic_time(millisecond) + cluster_round:patience()).

wrong(Base, Until) ->
    case [W || What <- [processes, tables, names, messages, memory], W <- wrong_with(What, Base)] of
        [] -> [];
        Wrong ->
            case erlang:monotonic_time(millisecond) > Until of
                true -> Wrong;
                false -> receive after 100 -> [garbage_collect(P) || P <- processes()], wrong(Base, Until) end
            end
    end.

%% Of processes, those that the emulator and OTP start for connections and requests come and go. What runs code of the tester must be gone.
wrong_with(processes, #{processes := Before}) ->
    [{process, none, Info} || P <- processes() -- Before, Info <- [process_info(P, [initial_call, current_function, current_stacktrace, dictionary, message_queue_len])],
        Info =/= undefined, P =/= self(), is_ours(Info)];
wrong_with(tables, #{tables := Before}) -> [{table, none, ets:info(T, name)} || T <- ets:all() -- Before, is_tester(ets:info(T, name))];
wrong_with(names, #{names := Before}) -> [{name, none, Name} || Name <- registered() -- Before, is_tester(Name)];
wrong_with(messages, _) -> case messages() of 0 -> []; N -> [{messages, 0, {N, [{P, process_info(P, [registered_name, messages])} || P <- processes(), {_, L} <- [process_info(P, message_queue_len)], L > 0]}}] end;
wrong_with(memory, #{figures := Before}) ->
    Now = figures(),
    [{atoms, maps:get(atoms, Before), maps:get(atoms, Now)} || maps:get(atoms, Now) > maps:get(atoms, Before) + ?ATOMS]
        ++ [{What, Was, Is} || What <- [processes, binary, ets, process_count, ports, tables], #{What := Was} <- [Before], #{What := Is} <- [Now], is_more(What, Is, Was)];
wrong_with(memory, _) -> [].

is_more(What, Is, Was) when What =:= process_count; What =:= ports; What =:= tables -> Is > Was + 8;
is_more(_, Is, Was) -> {Part, Bytes} = ?BYTES, Is > Was * (1 + Part) + Bytes.

is_ours([{_, {M, _, _}}, {_, Current}, {_, Stack} | _]) ->
    is_tester(M) orelse is_tester(case Current of {C, _, _} -> C; _ -> undefined end) orelse lists:any(fun({C, _, _, _}) -> is_tester(C) end, Stack).

is_tester(Name) -> is_atom(Name) andalso lists:prefix("cluster_", atom_to_list(Name)).
