%% What bench/atomics counts: each clause of op/2 does one operation N times and nothing else that is shared.
-module(operations).
-export([run/2, exported/1]).

run(Name, N) -> op(Name, N).

%% To a process that is about to run: the first message woke it.
op(send, N) ->
    Pid = spawn(fun ignore/0),
    times(N, fun() -> Pid ! hello end);
op(send_large, N) ->
    Pid = spawn(fun ignore/0),
    Message = lists:seq(1, 20),
    times(N, fun() -> Pid ! Message end);
op(send_to_name, N) ->
    register(ignorant, spawn(fun ignore/0)),
    times(N, fun() -> ignorant ! hello end);
%% Of messages that are there.
op('receive', N) ->
    [self() ! hello || _ <- lists:seq(1, 9000)],
    times(N, fun() -> receive hello -> ok end end);
%% There and back, each waking the other: two sends, two waits, two receives.
op(ping_pong, N) ->
    Pid = spawn(fun echo/0),
    times(N, fun() -> Pid ! self(), receive pong -> ok end end);
op(self_send, N) ->
    times(N, fun() -> self() ! hello, receive hello -> ok end end);
op(yield, N) ->
    times(N, fun erlang:yield/0);
%% Of a process that ends at once, and its end.
op(spawn_exit, N) ->
    times(N, fun() -> spawn(fun() -> ok end), erlang:yield() end);
op(spawn_monitor, N) ->
    times(N, fun() -> {_, Ref} = spawn_monitor(fun() -> ok end), receive {'DOWN', Ref, _, _, _} -> ok end end);
%% A binary, allocated here and freed by its receiver, on another scheduler if there is one (--flags '+S 2').
op(free_elsewhere, N) ->
    Me = self(),
    Pid = spawn_opt(fun() -> consume(N), Me ! done end, [{scheduler, erlang:system_info(schedulers)}]),
    spawn_opt(fun() -> times(N, fun() -> Pid ! binary:copy(<<1>>, 1000) end) end, [{scheduler, 1}]),
    receive done -> ok end;
op(link_unlink, N) ->
    Pid = spawn(fun echo/0),
    times(N, fun() -> link(Pid), unlink(Pid) end);
op(call, N) ->
    Pid = spawn(fun serve/0),
    times(N, fun() -> Ref = monitor(process, Pid), Pid ! {self(), Ref}, receive Ref -> demonitor(Ref, [flush]) end end);
op(whereis, N) ->
    times(N, fun() -> whereis(init) end);
op(make_ref, N) ->
    times(N, fun erlang:make_ref/0);
op(receive_after, N) ->
    self() ! hello,
    times(N, fun() -> self() ! hello, receive hello -> ok after 100000 -> error(late) end end);
%% A timer that is set while the process waits, and cancelled by the answer.
op(ping_pong_after, N) ->
    Pid = spawn(fun echo/0),
    times(N, fun() -> Pid ! self(), receive pong -> ok after 100000 -> error(late) end end);
op(timer_set_cancel, N) ->
    times(N, fun() -> erlang:cancel_timer(erlang:send_after(100000, self(), hello)) end);
op(ets_lookup_set, N) ->
    looked_up([set, public], N);
op(ets_lookup_ordered, N) ->
    looked_up([ordered_set, public], N);
op(ets_lookup_concurrent, N) ->
    looked_up([set, public, {read_concurrency, true}, {write_concurrency, auto}], N);
op(ets_lookup_named, N) ->
    ets:new(table, [set, public, named_table]),
    ets:insert(table, {1, one}),
    times(N, fun() -> ets:lookup_element(table, 1, 2) end);
op(ets_insert, N) ->
    Table = ets:new(table, [set, public]),
    times(N, fun() -> ets:insert(Table, {1, one}) end);
op(ets_counter, N) ->
    Table = ets:new(table, [set, public, {write_concurrency, auto}]),
    ets:insert(Table, {1, 0}),
    times(N, fun() -> ets:update_counter(Table, 1, 1) end);
op(persistent_term_get, N) ->
    persistent_term:put(key, value),
    times(N, fun() -> persistent_term:get(key) end);
op(export_call, N) ->
    times(N, fun() -> ?MODULE:exported(N) end);
op(apply, N) ->
    Module = list_to_existing_atom("operations"),
    times(N, fun() -> Module:exported(N) end).

exported(N) -> N.

looked_up(Options, N) ->
    Table = ets:new(table, Options),
    ets:insert(Table, {1, one}),
    times(N, fun() -> ets:lookup_element(Table, 1, 2) end).

times(0, _) -> ok;
times(N, F) -> F(), times(N - 1, F).

ignore() -> receive _ -> ignore() end.

echo() -> receive From -> From ! pong, echo() end.

serve() -> receive {From, Ref} -> From ! Ref, serve() end.

consume(0) -> erlang:garbage_collect();
consume(N) -> receive B when is_binary(B) -> consume(N - 1) end.
