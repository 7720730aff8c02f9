%% What libraries do besides terms: resources, monitors, dirty NIFs, threads, messages, descriptors, queues (tests/nif/nif_resources.c).
-module(nif_resources).
-export([main/1]).
-nifs([new/2, number/1, same/1, monitor/2, demonitor/1, dynamic/3, private/0, threads/0, kind/1, kind_cpu/1, kind_io/1, dirty_raise/1,
       dirty_work/2, step/2, step_raise/2, slice/0, send_to/2, names/1, open_pipe/1, write_pipe/1, read_pipe/1, select_on/4, queue/3, times/0, env_var/0, others/3, resource_bytes/1]).
-compile({no_auto_import, [monitor/2, demonitor/1]}).

new(_, _) -> not_loaded.
number(_) -> not_loaded.
same(_) -> not_loaded.
monitor(_, _) -> not_loaded.
demonitor(_) -> not_loaded.
dynamic(_, _, _) -> not_loaded.
private() -> not_loaded.
threads() -> not_loaded.
kind(_) -> not_loaded.
kind_cpu(_) -> not_loaded.
kind_io(_) -> not_loaded.
dirty_raise(_) -> not_loaded.
dirty_work(_, _) -> not_loaded.
step(_, _) -> not_loaded.
step_raise(_, _) -> not_loaded.
slice() -> not_loaded.
send_to(_, _) -> not_loaded.
names(_) -> not_loaded.
open_pipe(_) -> not_loaded.
write_pipe(_) -> not_loaded.
read_pipe(_) -> not_loaded.
select_on(_, _, _, _) -> not_loaded.
queue(_, _, _) -> not_loaded.
times() -> not_loaded.
env_var() -> not_loaded.
others(_, _, _) -> not_loaded.
resource_bytes(_) -> not_loaded.

main(_) ->
    File = filename:join(os:getenv("HEDDLE_TEST_NIFS"), "nif_resources"),
    p("refused", erlang:load_nif(File, not_a_list)),
    p("load", erlang:load_nif(File, [])),
    p("private", private()),
    resources(),
    W = monitors(),
    dirty(),
    p("threads", threads()),
    Messages = [N || {thread, N, "text"} <- received()],
    p("messages of threads", {length(Messages), lists:sort(Messages) =:= lists:sort(lists:append(lists:duplicate(4, lists:seq(0, 99))))}),
    Dead = dead(),
    p("send_to", [send_to(self(), {hello, [1, 2]}), send_to(Dead, x)]),
    p("sent", received()),
    p("names", [names(init), names(nif_resources_nothing), names("x")]),
    descriptors(),
    Long = binary:copy(<<"long">>, 50),
    <<_:4, Shifted:5/binary, _/bitstring>> = <<"shifted">>,
    [p({"queue", Skip, Remove}, queue(L, Skip, Remove))
     || L <- [[], [<<"ab">>, Long, <<>>, Shifted], lists:duplicate(40, Long)], {Skip, Remove} <- [{0, 0}, {1, 5}, {0, 1000000}]],
    p("queue of other terms", try queue([a], 0, 0) catch C:R -> {C, R} end),
    p("times", times()),
    Printed = filename:join(os:getenv("HEDDLE_TEST_NIFS"), "printed." ++ os:getpid()),
    Cat = open_port({spawn, "cat"}, [binary]),
    p("others", others(Cat, Printed, File)),
    p("printed", {file:read_file(Printed) =:= {ok, list_to_binary(["\"", Printed, "\",5"])}, file:delete(Printed)}),
    p("from the port", receive {Cat, Data} -> Data after 5000 -> nothing end),
    p("bytes of a resource", resource_bytes(new(plain, 6))),
    p("number of its resource", number(resource_bytes(new(plain, 6)))),
    os:putenv("HEDDLE_NIF_TEST", "abc"),
    p("variable", env_var()),
    os:putenv("HEDDLE_NIF_TEST", "abcd"),
    %% Not the size: stock sets it to one less than it was, the document says the size that is needed.
    p("too long a variable", element(1, env_var())),
    3 = element(1, number(W)).

resources() ->
    R = new(plain, 1),
    p("resource", {is_reference(R), number(R), same(R) =:= R, number(make_ref()), number(x)}),
    Ets = ets:new(t, []),
    ets:insert(Ets, {r, R, [R]}),
    [{r, R2, [R3]}] = ets:lookup(Ets, r),
    p("from a table", {R2 =:= R, number(R3)}),
    p("from bytes", number(binary_to_term(term_to_binary(R)))),
    Self = self(),
    spawn_link(fun() -> Self ! {other, number(R), R =:= R2} end),
    p("in another process", receive {other, _, _} = Other -> Other end),
    p("none destroyed", received()),
    ets:delete(Ets),
    ok = number_of_garbage(R),
    erlang:garbage_collect(),
    spawn(fun() -> new(plain, 2), Self ! made end),
    receive made -> ok end,
    Self ! stay.

%% Uses the resource for the last time.
number_of_garbage(R) -> {1, 1} = number(R), ok.

monitors() ->
    receive stay -> ok end,
    p("destroyed", wait()),
    W = new(watching, 3),
    P = spawn(fun() -> receive stop -> ok end end),
    p("monitor", {monitor(W, P), monitor(W, dead())}),
    P ! stop,
    p("down", wait()),
    Q = spawn(fun() -> receive stop -> ok end end),
    p("monitor again", {monitor(W, Q), demonitor(W), demonitor(W)}),
    exit(Q, kill),
    p("down of the only process that had it", lists:usort([only_process_ends(N) || N <- lists:seq(100, 130)])),
    p("a type without down", element(1, monitor(new(plain, 4), self()))),
    p("dynamic", [dynamic(?MODULE, watching, W), dynamic(?MODULE, plain, W), dynamic(?MODULE, watching, x)]),
    erlang:garbage_collect(),
    p("destroyed", wait()),
    W.

dirty() ->
    p("kinds", [kind(a), kind_cpu(b), kind_io({c, [d]})]),
    p("dirty_raise", try dirty_raise(x) catch C:R:S -> {C, R, [{F, A} || {?MODULE, F, A, _} <- S, is_list(A)]} end),
    p("dirty_work", dirty_work(0, {some, "data", <<"x">>})),
    p("from dirty", wait()),
    %% The process answers while its NIF sleeps.
    {P, M} = spawn_monitor(fun() -> dirty_work(300, x), exit(done) end),
    timer:sleep(50),
    p("while it sleeps", {process_info(P, status) =/= undefined, is_process_alive(P)}),
    exit(P, kill),
    p("ended", receive {'DOWN', M, process, P, Reason} -> Reason end),
    p("step", step(6, [])),
    p("a step that fails", try step_raise(3, x) catch error:R2:S2 -> {R2, [{F2, A2} || {?MODULE, F2, A2, _} <- S2, is_list(A2)]} end),
    p("slice", slice()).

descriptors() ->
    W = new(watching, 5),
    p("pipe", open_pipe(W)),
    Ref = make_ref(),
    p("select", select_on(W, 0, 1, Ref)),
    p("nothing yet", received()),
    p("write", write_pipe(W)),
    p("ready", wait() =:= {select, W, Ref, ready_input}),
    p("not again", received()),
    p("undefined", {select_on(W, 0, 1, undefined), wait() =:= {select, W, undefined, ready_input}}),
    p("read", read_pipe(W)),
    p("custom", select_on(W, 0, 1 bor 16, {my, ["own"]})),
    write_pipe(W),
    p("its message", wait()),
    read_pipe(W),
    p("output", {select_on(W, 1, 2, Ref), wait() =:= {select, W, Ref, ready_output}}),
    p("cancel", [select_on(W, 0, 1, Ref), select_on(W, 0, 1 bor 8, Ref), select_on(W, 0, 1 bor 8, Ref)]),
    p("stop", select_on(W, 0, 4, Ref)),
    p("stopped", wait()),
    p("stop of the other end", select_on(W, 1, 4, Ref)),
    p("stopped", wait()),
    5 = element(1, number(W)).

%% A resource watches the process that alone has it, which ends: `down` comes before the destructor.
only_process_ends(N) ->
    P = alone(N),
    erlang:garbage_collect(),
    P ! stop,
    Down = wait(),
    erlang:garbage_collect(),
    {Destroyed, N} = wait(),
    {Down, Destroyed}.

alone(N) ->
    W = new(watching, N),
    Self = self(),
    P = spawn(fun() -> Self ! {ready, monitor(W, self())}, receive stop -> number(W) end end),
    receive {ready, {0, _}} -> P end.

wait() -> receive M -> M after 5000 -> nothing end.

received() -> receive M -> [M | received()] after 50 -> [] end.

dead() ->
    {P, M} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', M, process, P, _} -> P end.

p(What, Value) -> io:format("~tp: ~tkp~n", [What, Value]).
