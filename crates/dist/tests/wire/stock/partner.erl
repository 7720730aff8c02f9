%% The stock node's part in the tests: it does what the test's node asks it to do, so that each control message comes up.
-module(partner).
-export([start/0, reply/2]).

start() ->
    register(partner, self()),
    %% The node ends by itself if the test was killed.
    timer:apply_after(300000, erlang, halt, [1]),
    io:format("ready~n"),
    loop().

loop() ->
    receive
        {From, Command} when is_pid(From) -> do(Command, From);
        {spawn_reply, _, _, _} -> ok;
        _ -> ok
    end,
    loop().

do({echo, Term}, From) -> From ! {echo, Term};
do({large, Size}, From) -> From ! {large, binary:copy(<<"ab">>, Size div 2)};
do({a_fun, Term}, From) -> From ! {a_fun, fun() -> {with, Term} end};
do({call, Fun}, From) -> From ! {called, Fun()};
do(to_name, From) -> {somebody, node(From)} ! by_name;
do(worker, From) -> From ! {worker, spawn(fun() -> worker() end)};
do({to_alias, Alias}, _) -> Alias ! to_alias;
do(alias, From) ->
    {Pid, Monitor} = spawn_monitor(fun() -> From ! {alias, alias()}, receive Any -> From ! {by_alias, Any} end end),
    receive {'DOWN', Monitor, process, Pid, _} -> ok end;
do({spawn, Options}, From) ->
    Ref = spawn_request(node(From), somewhere, something, [1, 2], Options),
    receive {spawn_reply, Ref, Result, What} -> From ! {spawned, Result, What} end;
do({leader, Leader}, From) -> group_leader(Leader, From).

%% A process that can be linked and monitored.
worker() ->
    receive
        {From, link} -> link(From), worker();
        {From, unlink} -> unlink(From), From ! unlinked, worker();
        {From, monitor} -> put(monitor, monitor(process, From)), worker();
        {From, monitor_name} -> put(monitor, monitor(process, {somebody, node(From)})), worker();
        {_, demonitor} -> demonitor(get(monitor)), worker();
        {From, trap} -> process_flag(trap_exit, true), From ! trapping, worker();
        {From, {exit, Reason}} -> exit(From, Reason), worker();
        {_, {stop, Reason}} -> exit(Reason);
        {_, {reply_to, Pid}} -> put(reply_to, Pid), worker();
        Other -> get(reply_to) ! {got, Other}, worker()
    end.

%% For processes that the test's node spawns here.
reply(To, What) -> To ! {spawned_here, self(), What, group_leader()}, receive stop -> ok end.
