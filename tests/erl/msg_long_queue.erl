%% Long queues of a process that does not look: small messages and larger ones in turn, with collections of all kinds between.
-module(msg_long_queue).
-export([main/1]).

main(_) ->
    io:format("suspended ~p~n", [suspended()]),
    io:format("busy ~p~n", [busy()]),
    io:format("looked at ~p~n", [looked_at()]),
    io:format("literals ~p~n", [literals()]),
    io:format("answers ~p~n", [answers()]),
    io:format("given up ~p~n", [given_up()]).

%% Of which every seventh is too large for a signal.
message(N) when N rem 7 =:= 0 -> {N, lists:seq(N, N + 9), {N, [N]}};
message(N) when N rem 5 =:= 0 -> [N | N + 1];
message(N) when N rem 3 =:= 0 -> {N, self()};
message(N) -> {message, self(), N}.

garbage(N) -> lists:foldl(fun(I, L) -> [{I, L} || I rem 50 =/= 0] end, [], lists:seq(1, N)).

%% After some of them a collection: of the sender, of a third, of all that lives.
send(Pid, From, To) ->
    [begin
         Pid ! message(N),
         case N rem 40 of
             11 -> garbage_collect();
             23 -> garbage(2000);
             31 -> garbage_collect(Pid, [{async, N}]);
             39 -> garbage_collect(whereis(code_server));
             _ -> ok
         end
     end || N <- lists:seq(From, To)].

receiver() ->
    Me = self(),
    spawn_link(fun() ->
        receive {start, How} -> How() end,
        Me ! {self(), [receive M -> M end || _ <- lists:seq(1, 600)]}
    end).

check(Pid) ->
    receive {Pid, Got} -> Got =:= [message(N) || N <- lists:seq(1, 600)] end.

suspended() ->
    Pid = receiver(),
    Pid ! {start, fun() -> ok end},
    erlang:suspend_process(Pid),
    send(Pid, 1, 600),
    garbage_collect(),
    erlang:resume_process(Pid),
    R = check(Pid),
    _ = [receive {garbage_collect, _, _} -> ok end || N <- lists:seq(1, 600), N rem 40 =:= 31],
    R.

busy() ->
    Pid = receiver(),
    Me = self(),
    Pid ! {start, fun() -> Me ! runs, spin(Me, 0) end},
    receive runs -> ok end,
    [Pid ! message(N) || N <- lists:seq(1, 600)],
    garbage_collect(),
    put(stop, true),
    ets:insert(flag(), {stop}),
    R = check(Pid),
    ets:delete(flag()),
    R.

flag() ->
    case ets:whereis(?MODULE) of
        undefined -> ets:new(?MODULE, [named_table, public]);
        _ -> ?MODULE
    end.

%% Works without a look at its messages, until all were sent.
spin(Me, N) ->
    garbage(500),
    case ets:whereis(?MODULE) =/= undefined andalso ets:member(?MODULE, stop) of
        true -> ok;
        false when N > 100000 -> exit(Me, too_long);
        false -> spin(Me, N + 1)
    end.

%% The process goes by all of them again and again.
looked_at() ->
    Pid = receiver(),
    Pid ! {start, fun() -> [receive {never, I} -> I after 0 -> garbage(300) end || I <- lists:seq(1, 50)] end},
    [begin Pid ! message(N), N rem 60 =:= 0 andalso erlang:yield() end || N <- lists:seq(1, 600)],
    garbage_collect(),
    check(Pid).

literals() ->
    Name = msg_long_queue_gone,
    Forms = [{attribute, 1, module, Name}, {attribute, 1, export, [{t, 0}]},
             {function, 1, t, 0, [{clause, 1, [], [], [erl_parse:abstract({lit, "text"})]}]}],
    {ok, Name, Code} = compile:forms(Forms),
    {module, Name} = code:load_binary(Name, "gone.erl", Code),
    Me = self(),
    Pid = spawn_link(fun() -> receive go -> ok end, Me ! {self(), [receive M -> M end || _ <- lists:seq(1, 120)]} end),
    erlang:suspend_process(Pid),
    [Pid ! case N rem 3 of 0 -> Name:t(); 1 -> {N, Name:t()}; 2 -> [N | Name:t()] end || N <- lists:seq(1, 120)],
    true = code:delete(Name),
    false = code:purge(Name),
    garbage_collect(),
    Pid ! go,
    erlang:resume_process(Pid),
    T = {lit, "text"},
    receive {Pid, Got} -> Got =:= [case N rem 3 of 0 -> T; 1 -> {N, T}; 2 -> [N | T] end || N <- lists:seq(1, 120)] end.

%% Between messages come answers, ends and messages to an alias, each with a term.
answers() ->
    Me = self(),
    Pid = spawn_link(fun() ->
        process_flag(trap_exit, true),
        Ended = [spawn_monitor(fun() -> receive {why, Why} -> exit({Why, [Why]}) end end) || _ <- lists:seq(1, 20)],
        Linked = [spawn_link(fun() -> receive {why, Why} -> exit({linked, [Why]}) end end) || _ <- lists:seq(1, 20)],
        Alias = alias(),
        Me ! {self(), [P || {P, _} <- Ended] ++ Linked, Alias},
        receive go -> ok end,
        Downs = lists:sort([receive {'DOWN', R, process, P, Why} -> Why end || {P, R} <- Ended]),
        Exits = lists:sort([receive {'EXIT', P, Why} -> Why end || P <- Linked]),
        Me ! {self(), Downs, Exits, [receive {a, M} -> M end || _ <- lists:seq(1, 40)], [receive {m, M} -> M end || _ <- lists:seq(1, 400)]}
    end),
    receive {Pid, Others, Alias} -> ok end,
    erlang:suspend_process(Pid),
    lists:foldl(fun(O, N) ->
        [Pid ! {m, 10 * N + I} || I <- lists:seq(1, 10)],
        Alias ! {a, {N, [N]}},
        O ! {why, N},
        N rem 4 =:= 0 andalso garbage_collect(),
        N + 1
    end, 0, Others),
    receive after 50 -> ok end,
    garbage(5000),
    garbage_collect(),
    Pid ! go,
    erlang:resume_process(Pid),
    receive {Pid, Downs, Exits, ByAlias, Messages} ->
        {Downs =:= [{N, [N]} || N <- lists:seq(0, 19)], Exits =:= [{linked, [N]} || N <- lists:seq(20, 39)],
         ByAlias =:= [{N, [N]} || N <- lists:seq(0, 39)], Messages =:= lists:seq(1, 400)}
    end.

%% A process that ends with a long queue.
given_up() ->
    [begin
         {Pid, Ref} = spawn_monitor(fun() -> receive never -> ok end end),
         erlang:suspend_process(Pid),
         send(Pid, 1, 200),
         exit(Pid, {done, [I]}),
         receive {'DOWN', Ref, process, Pid, Why} -> Why end
     end || I <- lists:seq(1, 3)].
