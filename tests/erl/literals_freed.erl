%% Literals that are not needed any more (persistent terms that were erased or replaced, purged code) are freed, and a process that still has
%% them keeps what they said: on heaps, in messages, in ETS, in timers, shared as before.
-module(literals_freed).
-export([main/1]).

main(_) ->
    holders(),
    shared(),
    code(),
    memory(),
    race().

value() -> {term, [<<7:8000>>, lists:seq(1, 20)], #{a => <<1:4096>>, b => make_ref()}, fun(X) -> X + 1 end}.

holders() ->
    persistent_term:put({?MODULE, k}, value()),
    Me = self(),
    T = persistent_term:get({?MODULE, k}),
    io:format("literal ~p~n", [erts_debug:size_shared(T)]),
    Flat = erts_debug:flat_size(T),
    Hash = erlang:phash2(T),
    Tab = ets:new(t, []),
    ets:insert(Tab, {1, T}),
    Timer = erlang:send_after(3000, self(), {timer, T}),
    Waits = [spawn_opt(fun() -> receive {ask, X} -> receive go -> Me ! {self(), erlang:phash2(X)} end end end, [{message_queue_data, Q}])
             || Q <- [on_heap, off_heap], _ <- lists:seq(1, 5)],
    [P ! {ask, T} || P <- Waits],
    Holds = [spawn(fun() -> X = persistent_term:get({?MODULE, k}), Me ! got, receive go -> Me ! {self(), erlang:phash2(X)} end end)
             || _ <- lists:seq(1, 10)],
    [receive got -> ok end || _ <- Holds],
    put(T, T),
    persistent_term:erase({?MODULE, k}),
    copied(T, Flat),
    %% What was there before is written over.
    [begin persistent_term:put({?MODULE, I}, lists:seq(I, I + 500)), persistent_term:erase({?MODULE, I}) end || I <- lists:seq(1, 200)],
    [P ! go || P <- Waits ++ Holds],
    [receive {P, H} -> Hash = H end || P <- Waits ++ Holds],
    Hash = erlang:phash2(get(T)),
    [{1, T}] = ets:lookup(Tab, 1),
    true = is_integer(erlang:cancel_timer(Timer)),
    42 = (element(4, T))(41),
    io:format("kept~n").

copied(T, Flat) ->
    case erts_debug:size_shared(T) of
        0 -> receive after 10 -> copied(T, Flat) end;
        Flat -> io:format("copied~n")
    end.

shared() ->
    T = lists:foldl(fun(_, A) -> [A | A] end, [], lists:seq(1, 40)),
    persistent_term:put({?MODULE, s}, T),
    L = persistent_term:get({?MODULE, s}),
    io:format("~p ~p~n", [erts_debug:size(L), erts_debug:size_shared(L)]),
    persistent_term:erase({?MODULE, s}),
    copied(L, 80).

code() ->
    Forms = [{attribute, 1, module, literals_freed_m}, {attribute, 1, export, [{v, 0}]},
             {function, 1, v, 0, [{clause, 1, [], [], [erl_parse:abstract({lit, "abc", [1.5, 1 bsl 80], #{x => "y"}})]}]}],
    {ok, M, Bin} = compile:forms(Forms),
    {module, M} = code:load_binary(M, "m", Bin),
    V = M:v(),
    0 = erts_debug:size_shared(V),
    true = code:delete(M),
    false = code:purge(M),
    copied(V, erts_debug:flat_size(V)),
    io:format("~p~n", [V]).

memory() ->
    Before = persistent_term:info(),
    [persistent_term:put({?MODULE, I}, {I, lists:seq(1, 100)}) || I <- lists:seq(1, 2000)],
    [true = persistent_term:erase({?MODULE, I}) || I <- lists:seq(1, 2000)],
    io:format("~p~n", [persistent_term:info() =:= Before]).

%% A high process asks all while they come and go.
race() ->
    Ps = [spawn_link(fun() -> race(I) end) || I <- lists:seq(1, 60)],
    process_flag(priority, high),
    [true = is_process_alive(P) || _ <- lists:seq(1, 20), P <- Ps],
    process_flag(priority, normal),
    [begin unlink(P), exit(P, kill) end || P <- Ps],
    [persistent_term:erase({?MODULE, I}) || I <- lists:seq(1, 60)],
    io:format("raced~n").

race(I) ->
    persistent_term:put({?MODULE, I}, {complex, [term, <<I:900>>]}),
    _ = persistent_term:get(),
    persistent_term:erase({?MODULE, I}),
    race(I).
