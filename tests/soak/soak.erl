%% Mixed load for a long time: memory must stay flat and no process may get stuck.
%%
%%     tests/soak/run [SECONDS] [ERL]
%%
%% Each job is a process that does its piece over and over and counts; a job that counts nothing for a minute is stuck. A
%% line each tenth of the time: seconds, resident MB (what the system says), MB by erlang:memory(), processes, atoms, ports,
%% tables, rounds. In the end resident memory may be a fifth and 20 MB above what it was after the first three tenths.
-module(soak).
-export([main/1]).

main([Seconds]) ->
    S = list_to_integer(Seconds),
    process_flag(trap_exit, true),
    Counters = counters:new(length(jobs()), []),
    Jobs = [{Name, N, spawn_link(fun() -> loop(Job, Counters, N) end)} || {N, {Name, Job}} <- lists:enumerate(jobs())],
    Lines = watch(10, S * 100, Jobs, Counters, erlang:monotonic_time(second), []),
    [exit(P, kill) || {_, _, P} <- Jobs],
    [Last | _] = Lines,
    Warm = lists:nth(length(Lines) - 2, Lines),
    Flat = Last =< Warm * 1.2 + 20,
    io:format("~s: ~w MB after three tenths, ~w MB in the end~n", [case Flat of true -> "flat"; false -> "GROWS" end, Warm, Last]),
    halt(case Flat of true -> 0; false -> 1 end).

watch(0, _, _, _, _, Lines) -> Lines;
watch(N, Pause, Jobs, Counters, Start, Lines) ->
    Before = counts(Jobs, Counters),
    wait(Pause),
    Now = counts(Jobs, Counters),
    Stuck = [Name || {{Name, A}, {Name, A}} <- lists:zip(Before, Now), Pause >= 60000],
    Stuck =:= [] orelse begin io:format("stuck: ~p~n~p~n", [Stuck, [erlang:process_info(P) || {Name, _, P} <- Jobs, lists:member(Name, Stuck)]]), halt(1) end,
    Line = t:resident() div 1000000,
    io:format("~5w s ~5w MB resident ~5w MB ~6w processes ~6w atoms ~3w ports ~4w tables ~s~n",
              [erlang:monotonic_time(second) - Start, Line, erlang:memory(total) div 1000000, erlang:system_info(process_count), erlang:system_info(atom_count),
               erlang:system_info(port_count), length(ets:all()), [io_lib:format(" ~s:~w", [Name, C]) || {Name, C} <- Now]]),
    watch(N - 1, Pause, Jobs, Counters, Start, [Line | Lines]).

wait(Pause) ->
    receive {'EXIT', _, Why} -> io:format("a job ended: ~p~n", [Why]), halt(1)
    after Pause -> ok
    end.

counts(Jobs, Counters) -> [{Name, counters:get(Counters, N)} || {Name, N, _} <- Jobs].

loop(Job, Counters, N) ->
    Job(),
    counters:add(Counters, N, 1),
    loop(Job, Counters, N).

jobs() ->
    [{spawns, fun spawns/0}, {servers, fun servers/0}, {tables, fun tables/0}, {timers, fun timers/0}, {ports, fun ports/0}, {code, fun code/0},
     {errors, fun errors/0}, {binaries, fun binaries/0}, {heaps, fun heaps/0}, {terms, fun terms/0}, {files, fun files/0}, {text, fun text/0}].

spawns() ->
    Pids = [spawn_monitor(fun() -> exit({done, X}) end) || X <- lists:seq(1, 500)],
    [receive {'DOWN', M, process, P, {done, _}} -> ok end || {P, M} <- Pids],
    Linked = spawn(fun() -> process_flag(trap_exit, true), [spawn_link(fun() -> exit(bye) end) || _ <- lists:seq(1, 100)], [receive {'EXIT', _, _} -> ok end || _ <- lists:seq(1, 100)] end),
    Ref = monitor(process, Linked),
    receive {'DOWN', Ref, _, _, _} -> ok end.

servers() ->
    P = spawn_link(fun Serve() -> receive {From, Ref, X} -> From ! {Ref, X + 1}, Serve(); stop -> ok end end),
    lists:foldl(fun(_, X) -> R = make_ref(), P ! {self(), R, X}, receive {R, Y} -> Y end end, 0, lists:seq(1, 100)),
    unlink(P),
    P ! stop.

tables() ->
    [begin
         T = ets:new(soak, [Type, public]),
         [ets:insert(T, {X, <<X:256>>, [X]}) || X <- lists:seq(1, 3000)],
         _ = ets:select(T, [{{'$1', '_', '$2'}, [{'>', '$1', 2900}], ['$2']}]),
         ets:select_delete(T, [{{'$1', '_', '_'}, [{'<', '$1', 1500}], [true]}]),
         ets:delete(T)
     end || Type <- [set, ordered_set, bag]],
    persistent_term:put({?MODULE, rand:uniform(5)}, lists:seq(1, rand:uniform(1000))).

timers() ->
    Refs = [erlang:send_after(rand:uniform(5), self(), X) || X <- lists:seq(1, 500)],
    [erlang:cancel_timer(R) || R <- lists:sublist(Refs, 100)],
    drain().

drain() -> receive _ -> drain() after 20 -> ok end.

ports() ->
    P = open_port({spawn_executable, "/bin/cat"}, [binary, {packet, 4}, exit_status]),
    [begin P ! {self(), {command, <<X:8000>>}}, receive {P, {data, <<X:8000>>}} -> ok end end || X <- lists:seq(1, 50)],
    P ! {self(), close},
    receive {P, closed} -> ok end,
    "hello\n" = os:cmd("echo hello").

code() ->
    Forms = [{attribute, 1, module, soak_code}, {attribute, 1, export, [{f, 0}]},
             {function, 1, f, 0, [{clause, 1, [], [], [erl_parse:abstract({rand:uniform(1000), lists:seq(1, 100), <<"literal">>}, 1)]}]}],
    {ok, soak_code, Beam} = compile:forms(Forms),
    {module, soak_code} = code:load_binary(soak_code, "soak_code", Beam),
    Kept = soak_code:f(),
    code:purge(soak_code),
    {_, _, <<"literal">>} = Kept,
    code:delete(soak_code),
    code:purge(soak_code),
    {_, _, <<"literal">>} = Kept.

errors() ->
    [try lists:nth(X, [a]) catch error:_:Stack -> length(Stack) end || X <- lists:seq(2, 300)],
    [catch binary_to_integer(<<"x", (X band 15)>>) || X <- lists:seq(1, 200)],
    [try throw({x, X}) catch throw:{x, X} -> X after ok end || X <- lists:seq(1, 300)].

binaries() ->
    B = binary:copy(<<"0123456789">>, 100000),
    Parts = [binary:part(B, X * 1000, 500) || X <- lists:seq(1, 500)],
    Joined = lists:foldl(fun(P, Acc) -> <<Acc/binary, P/binary>> end, <<>>, Parts),
    P = spawn(fun() -> receive X -> byte_size(X) end end),
    P ! Joined,
    _ = zlib:compress(B),
    _ = binary:split(B, <<"9">>, [global]).

heaps() ->
    T = lists:foldl(fun(X, Acc) -> [{X, Acc} | lists:sublist(Acc, 3)] end, [], lists:seq(1, 300)),
    M = maps:from_list([{X, X} || X <- lists:seq(1, 3000)]),
    true = length(T) + maps:fold(fun(K, V, A) -> K + V + A end, 0, M) > 0,
    F = lists:foldl(fun(X, A) -> A * X end, 1, lists:seq(1, 300)),
    F div 7.

terms() ->
    T = #{a => lists:seq(1, 500), b => {<<1, 2, 3>>, "text", 1.5, 1 bsl 100}, c => [{X, integer_to_binary(X)} || X <- lists:seq(1, 300)]},
    T = binary_to_term(term_to_binary(T, [compressed])),
    erlang:phash2(T).

files() ->
    Name = "/tmp/heddle-soak-" ++ os:getpid(),
    ok = file:write_file(Name, lists:duplicate(1000, "line of text\n")),
    {ok, F} = file:open(Name, [read, raw, binary, read_ahead]),
    {ok, _} = file:read(F, 5000),
    ok = file:close(F),
    ok = file:delete(Name).

text() ->
    _ = io_lib:format("~p ~w ~s ~.3f", [[1, {a, "b"}, #{c => d}], <<"xyz">>, "text", 2.5]),
    {match, _} = re:run("the quick brown fox", "(\\w+)\\s(\\w+)$", [{capture, all, binary}]),
    _ = string:uppercase("äöü"),
    _ = unicode:characters_to_binary(lists:seq(16#400, 16#4ff)).
