%% Driver libraries: every function of erl_driver.h, every function of a driver, and erl_ddll (tests/driver/driver_calls.c).
-module(driver_calls).
-export([main/1]).

main(_) ->
    process_flag(trap_exit, true),
    Folder = os:getenv("HEDDLE_TEST_NIFS"),
    refused(Folder),
    p("load", erl_ddll:load(Folder, driver_calls)),
    p("again", erl_ddll:try_load(Folder, "driver_calls", [])),
    p("inconsistent", erl_ddll:try_load(Folder, driver_calls, [{driver_options, [kill_ports]}])),
    p("info", [{Item, info(Item)} || Item <- [driver_options, port_count, linked_in_driver, permanent, awaiting_load, awaiting_unload]]),
    p("loads", [Count || {Pid, Count} <- erl_ddll:info(driver_calls, processes), Pid =:= self()]),
    p("is loaded", lists:member("driver_calls", element(2, erl_ddll:loaded_drivers()))),
    start(),
    starts_later(Folder),
    Port = open([binary]),
    replies(Port),
    calls(Port),
    terms(Port),
    data(Port),
    busy(Port),
    p("times", control(Port, 12)),
    p("system", control(Port, 13)),
    p("os_pid", {control(Port, 28), erlang:port_info(Port, os_pid)}),
    p("timer", control(Port, 18)),
    p("soon", {control(Port, 32), next(Port)}),
    pipes(Port),
    p("async", {control(Port, 15), next(Port)}),
    monitors(Port),
    p("locks", {control(Port, 11), next(Port)}),
    p("timeslice", control(Port, 27)),
    made(Port),
    ends(Port),
    unloads(Folder),
    permanent(Folder).

p(What, Result) -> io:format("~s: ~p~n", [What, Result]).

info(Item) -> erl_ddll:info(driver_calls, Item).

open(Options) -> open_port({spawn_driver, "driver_calls with words"}, Options).

control(Port, Operation) -> catch erlang:port_control(Port, Operation, []).

error_of(F) ->
    try F() catch Class:Reason -> {Class, Reason} end.

%% The next message of the port, without the port.
next(Port) ->
    receive
        {Port, What} -> What;
        {Port, What, More} -> {What, More};
        {'EXIT', Port, Reason} -> {exit, Reason};
        Other -> {other, shown(Other, Port)}
    after 3000 -> nothing
    end.

shown(Port, Port) -> port;
shown(Pid, _) when Pid =:= self() -> me;
shown(Tuple, Port) when is_tuple(Tuple) -> list_to_tuple([shown(E, Port) || E <- tuple_to_list(Tuple)]);
shown(Term, _) -> Term.

refused(Folder) ->
    {error, Error} = erl_ddll:load(Folder, driver_calls_3),
    p("no file", {Error, is_list(erl_ddll:format_error(Error))}),
    p("no driver", erl_ddll:load(Folder, driver_calls_2)),
    p("built in", erl_ddll:load(Folder, tcp_inet)),
    p("not loaded", [erl_ddll:unload(driver_calls), erl_ddll:try_load(Folder, driver_calls, [{reload, pending}])]),
    p("badarg", [error_of(F) || F <- [fun() -> erl_ddll:try_load(Folder, {a}, []) end, fun() -> erl_ddll:try_load(Folder, a, [b]) end,
                                      fun() -> erl_ddll:try_unload(a, [b]) end, fun() -> erl_ddll:info(nothing, processes) end,
                                      fun() -> erl_ddll:monitor(process, {a, loaded}) end, fun() -> erl_ddll:demonitor(a) end]]),
    Errors = [inconsistent, linked_in_driver, permanent, not_loaded, not_loaded_by_this_process, not_pending, already_loaded,
              pending_reload, pending_process, no_error, no_driver_init, driver_init_failed, bad_driver_name, driver_name_to_long,
              driver_incorrect_version, no_ddll_available, unspecified_error, symbol_not_found],
    [p(Error1, erl_ddll:format_error(Error1)) || Error1 <- Errors].

start() ->
    p("start", [error_of(fun() -> open_port({spawn, "driver_calls " ++ Word}, []) end) || Word <- ["general", "badarg", "errno"]]),
    p("options", [error_of(fun() -> open_port({spawn_driver, "driver_calls"}, [Option]) end)
                  || Option <- [exit_status, {busy_limits_port, {1, 2}}]]),
    p("count", info(port_count)),
    Port = open_port({spawn, "driver_calls talks"}, []),
    p("started", receive {started, Command, Pid} -> {Command, Pid =:= self()} after 1000 -> nothing end),
    p("timeout", next(Port)),
    p("port", [erlang:port_info(Port, Item) || Item <- [name, os_pid, queue_size]]),
    p("counts", {info(port_count), port_close(Port), next(Port)}).

starts_later(Folder) ->
    ok = erl_ddll:load(Folder, driver_calls_4),
    Port = open_port({spawn, "driver_calls_4"}, []),
    p("later", control(Port, 1)),
    p("refused later", [error_of(fun() -> open_port({spawn, "driver_calls_4 " ++ Word}, []) end) || Word <- ["general", "badarg", "errno"]]),
    p("nothing came", receive Message -> Message after 50 -> nothing end),
    p("closes", {port_close(Port), next(Port), erl_ddll:unload(driver_calls_4)}).

replies(Port) ->
    p("long", erlang:port_control(Port, 1, lists:duplicate(40, $x))),
    p("binary", erlang:port_control(Port, 2, [])),
    p("none", control(Port, 3)),
    p("list", control(Port, 5)),
    p("badarg", element(1, element(2, control(Port, 4)))).

calls(Port) ->
    Terms = [a, {lists:seq(1, 300), self(), Port}, #{x => <<1, 2>>}],
    p("call", [erlang:port_call(Port, 0, Term) =:= Term || Term <- Terms]),
    p("kept", erlang:port_call(Port, 1, kept)),
    p("badarg", [error_of(fun() -> erlang:port_call(Port, Operation, x) end) || Operation <- [2, 3, -1]]).

terms(Port) ->
    p("output", {control(Port, 6), next_terms(Port)}),
    p("send", {control(Port, 7), next_terms(Port)}),
    p("both", {control(Port, 30), next_terms(Port), next_terms(Port)}),
    p("bad", control(Port, 8)).

next_terms(Port) ->
    receive
        Terms when element(1, Terms) =:= terms -> shown(Terms, Port)
    after 1000 -> nothing
    end.

data(Port) ->
    p("binaries", {control(Port, 9), next(Port), next(Port)}),
    p("queue", {control(Port, 10), next(Port), next(Port)}),
    Large = binary:copy(<<"l">>, 90),
    p("echo", {port_command(Port, ["echo ", <<"this">>]), next(Port)}),
    p("outputv", {port_command(Port, <<"v", Large/binary>>), next(Port)}),
    p("parts", {port_command(Port, ["n", binary:copy(<<1>>, 300), 5, <<6>>, binary:copy(<<2>>, 256), binary:copy(<<2>>, 255)]), next(Port), next(Port)}),
    p("nothing", {port_command(Port, []), next(Port)}),
    p("enqv", {Port ! {self(), {command, <<"qtail">>}}, next(Port)} =/= {x}),
    p("pushqv", {port_command(Port, "phead"), next(Port)}),
    p("size", erlang:port_info(Port, queue_size)),
    p("queued", {control(Port, 10), next(Port), next(Port)}),
    p("figures", [erlang:port_info(Port, Item) || Item <- [input, output]]),
    List = open([]),
    p("lists", {control(List, 9), next(List), next(List), port_command(List, <<"vlist">>), next(List)}),
    port_close(List),
    next(List),
    Lines = open([{line, 5}]),
    p("lines", {port_command(Lines, <<"a\nlong line\nre">>), [next(Lines) || _ <- [1, 2, 3]], control(Lines, 21), next(Lines), next(Lines)}).

busy(Port) ->
    p("makes busy", port_command(Port, "b")),
    p("busy", port_command(Port, "no", [nosuspend])),
    p("force", {port_command(Port, "force", [force]), next(Port)}),
    p("waits", {port_command(Port, "waited"), next(Port), next(Port)}),
    p("not busy", {port_command(Port, "yes", [nosuspend]), next(Port)}),
    %% Commands that are on their way when the port becomes busy wait, and what follows them from the same process too.
    Self = self(),
    Late = open([binary]),
    Sender = spawn(fun() -> receive go -> Late ! {Self, {command, "l"}} end end),
    Sender ! go,
    timer:sleep(50),
    Late ! {self(), {command, "after"}},
    Late ! {self(), close},
    p("late", [next_of(Late) || _ <- [1, 2, 3, 4]]).

next_of(Port) ->
    receive
        {Port, What} -> What;
        {Port, What, _} -> What;
        {'EXIT', Port, Reason} -> {exit, Reason}
    after 1000 -> nothing
    end.

pipes(Port) ->
    control(Port, 14),
    p("pipe", [next(Port), next(Port)]).

monitors(Port) ->
    {Pid, Reference} = spawn_monitor(fun() ->
                                             p("monitor", control(Port, 16)),
                                             p("monitors", {element(2, process_info(self(), monitored_by)) -- [group_leader()] =/= []}),
                                             p("of port", erlang:port_info(Port, monitors) =:= {monitors, [{process, self()}]})
                                     end),
    receive {'DOWN', Reference, process, Pid, Reason} -> p("down", Reason) end,
    p("process_exit", next(Port)),
    p("monitor", control(Port, 16)),
    p("demonitor", control(Port, 17)).

made(Port) ->
    control(Port, 20),
    receive
        {Made, {data, Data}} when Made =/= Port ->
            p("made", {Data, erlang:port_info(Made, name), lists:member(Made, element(2, process_info(self(), links)))}),
            p("echo", {port_command(Made, "x"), next(Made)}),
            p("closes", {port_close(Made), next(Made)})
    after 1000 -> p("made", nothing)
    end.

ends(Port) ->
    %% From now on the driver tells this process of each stop.
    control(Port, 19),
    p("close", {port_close(Port), stopped(), next(Port)}),
    p("closed", element(1, element(2, control(Port, 19)))),
    [begin
         Failing = open([]),
         p(["end ", integer_to_list(Operation)], {control(Failing, Operation), stopped(), next_or_nothing(Failing)})
     end || Operation <- [21, 22, 23, 24, 25, 33, 34]],
    Eof = open([eof]),
    p("eof", {control(Eof, 21), next(Eof), port_close(Eof), stopped(), next(Eof)}),
    Flushed = open([]),
    p("flush", {control(Flushed, 29), port_close(Flushed), stopped(), next(Flushed)}),
    Killed = open([]),
    p("kill", {control(Killed, 29), exit(Killed, kill), stopped(), next(Killed)}).

stopped() ->
    receive {stop, Flushes} -> {stop, Flushes} after 1000 -> nothing end.

next_or_nothing(Port) ->
    receive
        {'EXIT', Port, Reason} -> Reason
    after 100 -> nothing
    end.

unloads(Folder) ->
    Port = open([]),
    p("unload", erl_ddll:try_unload(driver_calls, [])),
    {ok, pending_driver, Reference} = erl_ddll:try_unload(driver_calls, [{monitor, pending}]),
    p("waits", [Count || {_, Count} <- info(awaiting_unload)]),
    p("opens", is_port(open([]))),
    p("cancelled", {erl_ddll:try_load(Folder, driver_calls, []), down(Reference)}),
    {ok, pending_process, Reload} = erl_ddll:try_load(Folder, driver_calls, [{monitor, pending}, {reload, pending}]),
    p("pending", erl_ddll:try_load(Folder, driver_calls, [{reload, pending}])),
    Only = erl_ddll:monitor(driver, {driver_calls, unloaded_only}),
    p("inits", control(Port, 31)),
    [catch port_close(Other) || Other <- erlang:ports(), erlang:port_info(Other, name) =:= {name, "driver_calls with words"}],
    p("reloaded", [down(Only), down(Reload)]),
    flush(),
    New = open([]),
    p("inits", control(New, 31)),
    p("kills", {erl_ddll:unload_driver(driver_calls), next(New)}),
    Gone = erl_ddll:monitor(driver, {driver_calls, unloaded}),
    p("gone", {down(Gone), lists:member("driver_calls", element(2, erl_ddll:loaded_drivers()))}),
    Loaded = erl_ddll:monitor(driver, {driver_calls, loaded}),
    p("not loaded", down(Loaded)),
    {User, Ended} = spawn_monitor(fun() -> ok = erl_ddll:load_driver(Folder, driver_calls), open([]), exit(done) end),
    receive {'DOWN', Ended, process, User, Reason} -> p("user", Reason) end,
    Last = erl_ddll:monitor(driver, {driver_calls, unloaded}),
    p("after its user", down(Last)).

permanent(Folder) ->
    ok = erl_ddll:load(Folder, driver_calls),
    Port = open([]),
    Reference = erl_ddll:monitor(driver, {driver_calls, unloaded}),
    p("lock", {control(Port, 26), down(Reference)}),
    p("permanent", [erl_ddll:try_unload(driver_calls, []), erl_ddll:try_load(Folder, driver_calls, []), info(permanent), info(port_count)]),
    p("up", down(erl_ddll:monitor(driver, {driver_calls, loaded}))),
    port_close(Port),
    flush().

down(Reference) ->
    receive
        {Kind, Reference, driver, driver_calls, Why} -> {Kind, Why}
    after 3000 -> nothing
    end.

flush() ->
    receive _ -> flush() after 50 -> ok end.
