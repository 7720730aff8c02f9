%% What processes end with, as others are told: large terms, several that are told, and those that end by it in turn.
-module(proc_end_reasons).
-export([main/1]).

main(_) ->
    [io:format("~p ~p~n", [Name, F()])
     || {Name, F} <- [{trapped, fun trapped/0}, {watched, fun watched/0}, {many, fun many/0}, {chain, fun chain/0}, {unread, fun unread/0},
                      {literal, fun literal/0}, {tagged, fun tagged/0}, {killed_in_native, fun killed_in_native/0}]].

reason(N) -> {N, lists:seq(1, 200), [integer_to_binary(N), binary:copy(<<"large">>, 100)], #{N => {float(N), 1 bsl (80 + N)}}, make_ref(), self()}.

same({N, List, [Small, Large], Map, Ref, Pid}, N, Pid) ->
    List =:= lists:seq(1, 200) andalso Small =:= integer_to_binary(N) andalso Large =:= binary:copy(<<"large">>, 100)
        andalso Map =:= #{N => {float(N), 1 bsl (80 + N)}} andalso is_reference(Ref).

collect() -> erlang:garbage_collect(self(), [{type, minor}]), erlang:garbage_collect().

trapped() ->
    process_flag(trap_exit, true),
    Pids = [{N, spawn_link(fun() -> exit(reason(N)) end)} || N <- lists:seq(1, 50)],
    collect(),
    Got = [receive {'EXIT', Pid, Reason} -> collect(), same(Reason, N, Pid) end || {N, Pid} <- Pids],
    process_flag(trap_exit, false),
    lists:usort(Got).

watched() ->
    Pids = [{N, spawn_monitor(fun() -> exit(reason(N)) end)} || N <- lists:seq(1, 50)],
    collect(),
    lists:usort([receive {'DOWN', Ref, process, Pid, Reason} -> collect(), same(Reason, N, Pid) end || {N, {Pid, Ref}} <- lists:reverse(Pids)]).

%% Several are told: each has it, though all others let go of it.
many() ->
    Dying = spawn(fun() -> receive go -> exit(reason(7)) end end),
    Me = self(),
    Watchers = [spawn_link(fun() ->
                                   Ref = monitor(process, Dying),
                                   Me ! {self(), ready},
                                   receive {'DOWN', Ref, _, _, Reason} -> collect(), Me ! {self(), same(Reason, 7, Dying)} end
                           end) || _ <- lists:seq(1, 20)],
    [receive {W, ready} -> ok end || W <- Watchers],
    Dying ! go,
    lists:usort([receive {W, Result} -> Result end || W <- Watchers]).

%% The reason goes on from one to the next, each of which ends by it.
chain() ->
    process_flag(trap_exit, true),
    Me = self(),
    First = spawn_link(fun() -> link_down(30, Me) end),
    Last = receive {last, Pid} -> Pid end,
    Last ! go,
    Result = receive {'EXIT', First, Reason} -> collect(), same(Reason, 9, Last) end,
    process_flag(trap_exit, false),
    Result.

link_down(0, Top) -> Top ! {last, self()}, receive go -> exit(reason(9)) end;
link_down(N, Top) -> spawn_link(fun() -> link_down(N - 1, Top) end), receive never -> ok end.

%% A process that is told does not look for a while, and much is collected meanwhile; another never looks.
unread() ->
    Me = self(),
    Watcher = spawn_link(fun() ->
                                 {Pid, Ref} = spawn_monitor(fun() -> exit(reason(3)) end),
                                 Me ! ready,
                                 receive look -> ok end,
                                 receive {'DOWN', Ref, _, _, Reason} -> Me ! {result, same(Reason, 3, Pid)} end
                         end),
    Deaf = [spawn_link(fun() -> spawn_monitor(fun() -> exit(reason(N)) end), receive stop -> ok end end) || N <- lists:seq(1, 20)],
    receive ready -> ok end,
    [begin _ = lists:seq(1, 10_000), collect() end || _ <- lists:seq(1, 20)],
    Watcher ! look,
    Result = receive {result, R} -> R end,
    [D ! stop || D <- Deaf],
    Result.

%% A literal that goes meanwhile.
literal() ->
    Value = [{N, integer_to_binary(N)} || N <- lists:seq(1, 100)],
    lists:usort([begin
                     persistent_term:put(?MODULE, {Round, Value}),
                     {Pid, Ref} = spawn_monitor(fun() -> exit(persistent_term:get(?MODULE)) end),
                     receive after 1 -> ok end,
                     persistent_term:erase(?MODULE),
                     collect(),
                     receive {'DOWN', Ref, process, Pid, Reason} -> collect(), Reason =:= {Round, Value} end
                 end || Round <- lists:seq(1, 20)]).

tagged() ->
    Tag = {tag, lists:seq(1, 20)},
    Dying = spawn(fun() -> receive go -> exit(reason(5)) end end),
    Ref = monitor(process, Dying, [{tag, Tag}]),
    Dying ! go,
    receive {Tag, Ref, process, Pid, Reason} -> collect(), same(Reason, 5, Pid) end.

%% Ended by a signal in the middle of a native that blocks. (In the sequential machine such a native has the only turn.)
killed_in_native() ->
    case erlang:system_info(smp_support) of
        true -> killed_in_native(now);
        false -> true
    end.

killed_in_native(now) ->
    {Reader, Ref} = spawn_monitor(fun() -> blocked() end),
    Killer = spawn(fun() -> link(Reader), receive go -> exit(reason(4)) end end),
    receive after 50 -> ok end,
    Killer ! go,
    receive {'DOWN', Ref, process, Reader, Reason} -> collect(), same(Reason, 4, Killer) end.

blocked() ->
    Dir = filename:join(["/tmp", "heddle-reasons-" ++ os:getpid()]),
    _ = os:cmd("mkfifo " ++ Dir),
    spawn(fun() -> receive after 300 -> ok end, os:cmd("echo x > " ++ Dir ++ "; rm " ++ Dir) end),
    {ok, File} = file:open(Dir, [read, raw]),
    file:close(File).
