%% Tracer modules (erl_tracer): a library in C whose functions are called for each event (tests/nif/nif_tracer.c).
-module(nif_tracer).
-compile({no_auto_import, [processes/0, ports/0]}).
-export([main/1, work/1, fail/1, outer/1]).
-export([enabled/3, enabled_call/3, enabled_send/3, trace/5, trace_receive/5, trace_procs/5, trace_garbage_collection/5, trace_ports/5,
         trace_running_ports/5]).
-nifs([enabled/3, enabled_call/3, enabled_send/3, trace/5, trace_receive/5, trace_procs/5, trace_garbage_collection/5, trace_ports/5,
       trace_running_ports/5]).

enabled(_, _, _) -> not_loaded.
enabled_call(_, _, _) -> not_loaded.
enabled_send(_, _, _) -> not_loaded.
trace(_, _, _, _, _) -> not_loaded.
trace_receive(_, _, _, _, _) -> not_loaded.
trace_procs(_, _, _, _, _) -> not_loaded.
trace_garbage_collection(_, _, _, _, _) -> not_loaded.
trace_ports(_, _, _, _, _) -> not_loaded.
trace_running_ports(_, _, _, _, _) -> not_loaded.

main(_) ->
    #{level := Level} = logger:get_primary_config(),
    logger:set_primary_config(level, none),
    p("without library", catched(fun() -> erlang:trace(self(), true, [{tracer, ?MODULE, x}, send]) end)),
    File = filename:join(os:getenv("HEDDLE_TEST_NIFS"), "nif_tracer"),
    p("load", erlang:load_nif(File, [])),
    refused(),
    calls(),
    meta(),
    messages(),
    processes(),
    collections(),
    ports(),
    answers(),
    sessions(),
    match_specifications(),
    sequential(),
    receivers(),
    logger:set_primary_config(level, Level).

%% What tracers are refused, and what for.
refused() ->
    Bad = [{tracer, foobar}, {tracer, foobar, []}, {tracer, make_ref(), []}, {tracer, lists, []}, {tracer, {?MODULE, x}},
           {tracer, erl_tracer, self()}, {tracer, erl_tracer, not_a_pid}, {tracer, self(), x}, {tracer, "x"}],
    [begin
         p({"tracer", N}, catched(fun() -> erlang:trace(self(), true, [T, call]) end)),
         p({"shown", N}, shown(erlang:trace_info(self(), tracer))),
         erlang:trace(self(), false, [all])
     end || {N, T} <- lists:enumerate(Bad)],
    [p({"meta", N}, catched(fun() -> erlang:trace_pattern({?MODULE, work, 1}, [], [setelement(1, T, meta)]) end))
     || {N, T} <- lists:enumerate(Bad), N =/= 6, N =/= 7],
    [p({"session", N}, catched(fun() -> is_tuple(trace:session_create(some, T, [])) end))
     || {N, T} <- lists:enumerate([foobar, {foobar, []}, {lists, []}, {?MODULE, x}, {erl_tracer, x}])],
    erlang:trace_pattern({?MODULE, work, 1}, false, [meta]).

state(Answers) -> {maps:from_list([{T, trace} || T <- Answers]), self()}.

tracee() ->
    spawn(fun loop/0).

loop() ->
    receive
        {run, From, F} ->
            Result = try F() catch C:R -> {C, R} end,
            From ! {done, self(), Result},
            loop();
        stop ->
            ok
    end.

run(Pid, F) ->
    Pid ! {run, self(), F},
    receive {done, Pid, Result} -> Result after 5000 -> timeout end.

stop(Pid) ->
    Ref = monitor(process, Pid),
    Pid ! stop,
    receive {'DOWN', Ref, process, Pid, _} -> ok end.

work(X) -> X.
fail(X) -> error({failed, X}).
outer(X) -> [work(X)].

calls() ->
    erlang:trace_pattern({?MODULE, work, 1}, [{'_', [], [{return_trace}]}], [local]),
    erlang:trace_pattern({?MODULE, fail, 1}, [{'_', [], [{exception_trace}]}], [local]),
    erlang:trace_pattern({?MODULE, outer, 1}, [{['$1'], [], [{message, {{seen, '$1'}}}]}], [local]),
    [begin
         Pid = tracee(),
         p("trace", erlang:trace(Pid, true, [{tracer, ?MODULE, state([call])} | Flags])),
         p("info", {shown(erlang:trace_info(Pid, flags)), shown(erlang:trace_info(Pid, tracer))}),
         p("work", run(Pid, fun() -> ?MODULE:work(1) end)),
         p("fail", run(Pid, fun() -> ?MODULE:fail(1) end)),
         p("outer", run(Pid, fun() -> ?MODULE:outer(1) end)),
         p({"events", Flags}, events(Pid)),
         p("other tracer", catched(fun() -> erlang:trace(Pid, true, [call]) end)),
         p("same tracer", catched(fun() -> erlang:trace(Pid, true, [send, {tracer, ?MODULE, state([call])}]) end)),
         stop(Pid),
         events(Pid)
     end || Flags <- [[call], [call, arity, timestamp], [call, return_to, monotonic_timestamp],
                      [call, strict_monotonic_timestamp, scheduler_id]]],
    erlang:trace_pattern({?MODULE, '_', '_'}, false, [local]).

%% A function with a tracer of its own. (Stock asks such a tracer's `trace_call`, with three arguments, if there is one; so there is none.)
%% Its frame on the stack has the tracer's state, which collections move.
meta() ->
    State = {#{call => trace, trace_status => trace}, self(), lists:seq(1, 20), <<0:999>>},
    p("meta", erlang:trace_pattern({?MODULE, outer, 1}, [{'_', [], [{exception_trace}]}], [{meta, ?MODULE, State}])),
    {meta, {?MODULE, State}} = erlang:trace_info({?MODULE, outer, 1}, meta),
    erlang:trace_pattern({?MODULE, work, 1}, [{'_', [], [{return_trace}]}], [{meta, ?MODULE, State}]),
    Pid = tracee(),
    p("outer", run(Pid, fun() -> ?MODULE:outer(2) end)),
    p("deep", run(Pid, fun() -> deep(100), erlang:garbage_collect(), ok end)),
    Events = events(Pid),
    p("events", [E || E <- Events, element(4, E) =/= {?MODULE, work, [0]}, element(4, E) =/= {?MODULE, work, 1}]),
    p("all", length(Events)),
    Removes = setelement(1, State, #{call => trace, trace_status => remove}),
    p("removes", erlang:trace_pattern({?MODULE, outer, 1}, [], [{meta, ?MODULE, Removes}])),
    p("outer", run(Pid, fun() -> ?MODULE:outer(2) end)),
    p("removed", {events(Pid, fun(E) -> element(4, E) =:= {?MODULE, outer, [2]} end), erlang:trace_info({?MODULE, outer, 1}, meta)}),
    stop(Pid),
    erlang:trace_pattern({?MODULE, '_', '_'}, false, [meta]),
    events(Pid).

deep(0) -> [];
deep(N) -> erlang:garbage_collect(), [?MODULE:work(0) | deep(N - 1)].

messages() ->
    Pid = tracee(),
    Self = self(),
    Dead = spawn(fun() -> ok end),
    stop(Dead),
    erlang:trace(Pid, true, [send, 'receive', timestamp, {tracer, ?MODULE, state([send, 'receive', send_to_non_existing_process])}]),
    p("send", run(Pid, fun() -> Self ! hello, Dead ! hello, self() ! own, receive own -> ok end end)),
    receive hello -> ok end,
    p("events", [simple(E, Pid, Dead) || E <- events(Pid)]),
    erlang:trace(Pid, false, [all]),
    erlang:trace(Pid, true, [send, {tracer, ?MODULE, {#{send => trace, own_send => discard}, self()}}]),
    p("send", run(Pid, fun() -> Self ! hello end)),
    receive hello -> ok end,
    p("its own function", events(Pid)),
    stop(Pid).

simple({F, T, _, {done, _, _}, O}, _, _) -> {F, T, done, maps:keys(O)};
simple({F, T, _, {run, _, _}, O}, _, _) -> {F, T, run, maps:keys(O)};
simple({F, T, W, X, #{extra := Dead} = O}, _, Dead) -> {F, T, W, X, O#{extra := dead}};
simple({F, T, W, X, #{extra := Me} = O}, _, _) when Me =:= self() -> {F, T, W, X, O#{extra := me}};
simple({F, T, W, X, #{extra := Pid} = O}, Pid, _) -> {F, T, W, X, O#{extra := tracee}};
simple(E, _, _) -> E.

processes() ->
    Pid = tracee(),
    Tags = [spawn, spawned, exit, link, unlink, getting_linked, getting_unlinked, register, unregister],
    erlang:trace(Pid, true, [procs, set_on_spawn, {tracer, ?MODULE, state(Tags)}]),
    run(Pid, fun() ->
                     Child = spawn_link(?MODULE, work, [child]),
                     Ref = monitor(process, Child),
                     receive {'DOWN', Ref, _, _, _} -> ok end,
                     register(nif_tracer_name, self()),
                     unregister(nif_tracer_name),
                     Other = spawn(fun() -> receive stop -> ok end end),
                     link(Other), unlink(Other), stop(Other)
             end),
    stop(Pid),
    timer:sleep(50),
    All = all_events(),
    p("procs of the tracee", [{F, T, plain(X), maps:map(fun(_, V) -> plain(V) end, O)} || {F, T, Who, X, O} <- All, Who =:= Pid]),
    p("procs of others", lists:sort([{F, T, plain(X), maps:map(fun(_, V) -> plain(V) end, O)} || {F, T, Who, X, O} <- All, Who =/= Pid])).

plain(X) when is_pid(X) -> pid;
plain({erlang, apply, _}) -> apply;
plain(X) -> X.

collections() ->
    Pid = tracee(),
    erlang:trace(Pid, true, [garbage_collection, {tracer, ?MODULE, state([gc_major_start, gc_major_end])}]),
    run(Pid, fun() -> erlang:garbage_collect() end),
    Events = events(Pid),
    p("collections", lists:usort([{F, T, is_list(X), O} || {F, T, _, X, O} <- Events])),
    stop(Pid).

ports() ->
    erlang:trace(new_ports, true, [ports, running_ports, {tracer, ?MODULE, state([open, closed, in, out, getting_linked, getting_unlinked])}]),
    Port = open_port({spawn, "cat"}, [binary]),
    true = is_port(Port),
    {tracer, {?MODULE, _}} = erlang:trace_info(Port, tracer),
    Port ! {self(), {command, "text"}},
    receive {Port, {data, _}} -> ok end,
    Port ! {self(), close},
    receive {Port, closed} -> ok end,
    timer:sleep(50),
    Events = [E || {_, _, P, _, _} = E <- all_events(), P =:= Port],
    p("ports", [{F, T, plain(X), O} || {F, T, _, X, O} <- Events, T =/= in, T =/= out]),
    p("operations", lists:usort([{F, T} || {F, T, _, _, _} <- Events, T =:= in orelse T =:= out])),
    erlang:trace(new_ports, false, [ports, running_ports]).

%% What else `enabled` may answer.
answers() ->
    erlang:trace_pattern({?MODULE, work, 1}, true, [local]),
    [begin
         Pid = tracee(),
         p({"trace", Answers}, catched(fun() -> erlang:trace(Pid, true, [call, {tracer, ?MODULE, {Answers, self()}}]) end)),
         p("work", run(Pid, fun() -> ?MODULE:work(1) end)),
         p("events", events(Pid)),
         p("info", shown(erlang:trace_info(Pid, flags))),
         p("other tracer", catched(fun() -> erlang:trace(Pid, true, [call]) end)),
         stop(Pid)
     end || Answers <- [#{trace_status => remove, call => trace}, #{trace_status => discard, call => trace},
                        #{trace_status => trace, call => discard}]],
    erlang:trace_pattern({?MODULE, '_', '_'}, false, [local]).

sessions() ->
    State = state([call, return_from]),
    Session = trace:session_create(nif_tracer_session, {?MODULE, State}, []),
    Pid = tracee(),
    p("own tracer", catched(fun() -> trace:process(Session, Pid, true, [call, {tracer, ?MODULE, x}]) end)),
    p("process", trace:process(Session, Pid, true, [call])),
    p("function", trace:function(Session, {?MODULE, work, 1}, [{'_', [], [{return_trace}]}], [local])),
    p("work", run(Pid, fun() -> ?MODULE:work(1) end)),
    p("events", events(Pid)),
    p("info", shown(trace:info(Session, Pid, tracer))),
    trace:session_destroy(Session),
    p("work", run(Pid, fun() -> ?MODULE:work(1) end)),
    p("after its end", events(Pid)),
    stop(Pid).

match_specifications() ->
    Pid = tracee(),
    Other = tracee(),
    State = state([call]),
    erlang:trace(Pid, true, [call, {tracer, ?MODULE, State}]),
    erlang:trace_pattern({?MODULE, outer, 1}, [{'_', [], [{trace, Other, [], [call, {{tracer, ?MODULE, {const, State}}}]}]}], [local]),
    p("outer", run(Pid, fun() -> ?MODULE:outer(1) end)),
    p("events", events(Pid)),
    p("info", {shown(erlang:trace_info(Other, flags)), shown(erlang:trace_info(Other, tracer))}),
    stop(Pid), stop(Other),
    erlang:trace_pattern({?MODULE, '_', '_'}, false, [local]).

sequential() ->
    p("refused", catched(fun() -> seq_trace:set_system_tracer({?MODULE, {#{trace_status => remove}, self()}}) end)),
    p("system tracer", seq_trace:set_system_tracer({?MODULE, state([seq_trace])})),
    Pid = spawn(fun() ->
                        seq_trace:set_token(label, {17, "label"}),
                        seq_trace:set_token(print, true),
                        seq_trace:set_token(monotonic_timestamp, true),
                        seq_trace:print({17, "label"}, hello)
                end),
    stop(Pid),
    p("printed", [{F, T, L, setelement(3, X, pid), O} || {F, T, L, X, O} <- all_events()]),
    p("info", shown(seq_trace:get_system_tracer())),
    p("before", shown(seq_trace:set_system_tracer(false))).

%% The module of tracers that are processes.
receivers() ->
    Dead = spawn(fun() -> ok end),
    stop(Dead),
    p("enabled", [erl_tracer:enabled(Tag, Who, Tracee) || Tag <- [trace_status, call], Who <- [self(), Dead, x], Tracee <- [Dead, self()]]),
    p("trace", [erl_tracer:trace(Tag, self(), Dead, term, Options)
                || {Tag, Options} <- [{call, #{}}, {send, #{extra => 1}}, {call, #{match_spec_result => 2, scheduler_id => 3}}, {seq_trace, #{}}]]),
    p("sent", [setelement(2, M, who) || M <- received()]),
    erl_tracer:trace(call, self(), Dead, term, #{timestamp => strict_monotonic}),
    [{trace_ts, _, call, term, {Time, Unique}}] = received(),
    p("timestamp", {is_integer(Time), is_integer(Unique)}).

received() -> receive M -> [M | received()] after 0 -> [] end.

events(Pid) -> events(Pid, fun(_) -> true end).

events(Pid, Wanted) ->
    Ref = erlang:trace_delivered(Pid),
    receive {trace_delivered, Pid, Ref} -> ok end,
    [setelement(3, E, tracee) || E <- all_events(), element(3, E) =:= Pid, Wanted(E)].

all_events() ->
    receive
        {_, _, _, _, O} = E when is_map_key(scheduler_id, O) -> [setelement(5, E, O#{scheduler_id := some}) | all_events()];
        {_, _, _, _, O} = E when is_map(O) -> [E | all_events()]
    after 0 -> []
    end.

shown({What, {Module, {Answers, Pid}}}) when is_pid(Pid) -> {What, {Module, {Answers, pid}}};
shown({Module, {Answers, Pid}}) when is_pid(Pid) -> {Module, {Answers, pid}};
shown({What, Pid}) when is_pid(Pid) -> {What, pid};
shown(Other) -> Other.

catched(F) -> try F() catch C:R -> {C, R} end.

p(What, Term) -> io:format("~p: ~p~n", [What, Term]).
