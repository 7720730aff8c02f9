%% Messages of a few words, of every kind of term, on all ways that a message can go.
-module(msg_few_words).
-export([main/1]).

main(_) ->
    Terms = terms(),
    io:format("echo ~p~n", [[T =:= echo(T) || T <- Terms]]),
    io:format("self ~p~n", [[T =:= to_self(T) || T <- Terms]]),
    io:format("listed ~p~n", [listed(Terms)]),
    io:format("out of order ~p~n", [out_of_order(Terms)]),
    io:format("kept ~p~n", [kept(Terms)]),
    io:format("traced ~p~n", [traced({few, 7})]),
    io:format("literals ~p~n", [literals()]),
    io:format("dead ~p~n", [dead(Terms)]).

%% Made at run time, so that they are no literals.
terms() ->
    One = list_to_integer("1"),
    Big = One bsl 62,
    Long = binary:copy(<<"x">>, 100 * One),
    <<_:3, Odd:7/bits, _/bits>> = <<Long/binary>>,
    <<_, Part:80/binary, _/binary>> = Long,
    F = fun() -> ok end,
    [One, ok, [], {}, {One}, {One, 2}, {One, 2, 3}, {One, 2, 3, 4}, {One, 2, 3, 4, 5},
     [One], [One | 2], [One, 2], [One, 2, 3], {[One]}, [{One}], {{One}}, {{One, 2}}, {One, {2}}, {[One | 2], 3},
     One / 3, {One / 3}, [One / 3], {One / 3, 2}, Big, -Big, {Big}, Big bsl 64, Big bsl 128, {Big bsl 64}, {Big bsl 128},
     <<One>>, <<One, 2, 3, 4, 5, 6, 7, 8, 9>>, {<<One>>}, [<<One>>], <<One:5>>, Odd, Long, {Long}, [Long], Part, {Part},
     self(), {self()}, make_ref(), {make_ref()}, alias(), F, {F}, fun lists:map/2, {fun lists:map/2}, fun() -> One end,
     #{}, #{One => One}, #{a => One}, {#{a => One}}, {a, "literal"}, ["literal" | One], atomics:new(One, [])].

echo(T) ->
    Me = self(),
    Pid = spawn(fun() -> receive M -> garbage_collect(), Me ! {here, M} end end),
    Pid ! T,
    receive {here, Back} -> Back end.

to_self(T) ->
    self() ! T,
    receive M -> garbage_collect(), M end.

%% In the queue of a process that does not look.
listed(Terms) ->
    Pid = spawn(fun() -> receive never -> ok end end),
    [Pid ! T || T <- Terms],
    Pid ! {last, 1},
    {messages, Found} = process_info(Pid, messages),
    {message_queue_len, Len} = process_info(Pid, message_queue_len),
    garbage_collect(Pid),
    {messages, Again} = process_info(Pid, messages),
    exit(Pid, kill),
    {Len =:= length(Terms) + 1, Found =:= Terms ++ [{last, 1}], Again =:= Found}.

out_of_order(Terms) ->
    Me = self(),
    Numbered = lists:zip(lists:seq(1, length(Terms)), Terms),
    Pid = spawn(fun() ->
        receive go -> ok end,
        Me ! {got, [begin garbage_collect(), receive {N, M} -> M end end || {N, _} <- lists:reverse(Numbered)]}
    end),
    [Pid ! {N, T} || {N, T} <- Numbered],
    Pid ! go,
    receive {got, Got} -> Got =:= lists:reverse(Terms) end.

%% Looked at, left, and looked at again, with the heap moving between.
kept(Terms) ->
    Me = self(),
    Pid = spawn(fun() ->
        receive {never, never, never} -> ok after 0 -> ok end,
        receive {go, now} -> ok end,
        garbage_collect(),
        lists:foldl(fun(_, L) -> [L, make_ref()] end, [], lists:seq(1, 1000)),
        Me ! {kept, [receive M -> M end || _ <- Terms]}
    end),
    [Pid ! T || T <- Terms],
    Pid ! {go, now},
    receive {kept, Got} -> Got =:= Terms end.

traced(T) ->
    Me = self(),
    Pid = spawn(fun() -> receive T -> ok end, receive go -> Me ! done end end),
    erlang:trace(Pid, true, ['receive']),
    Pid ! T,
    Pid ! go,
    receive done -> ok end,
    [receive {trace, Pid, 'receive', M} -> M end || _ <- [1, 2]].

%% What a waiting message refers to stays, though its module goes.
literals() ->
    Forms = [{attribute, 1, module, msg_few_words_gone}, {attribute, 1, export, [{t, 0}]},
             {function, 1, t, 0, [{clause, 1, [], [], [erl_parse:abstract({lit, "text", <<"bytes">>})]}]}],
    {ok, M, Code} = compile:forms(Forms),
    {module, M} = code:load_binary(M, "msg_few_words_gone.erl", Code),
    Me = self(),
    Pid = spawn(fun() -> receive go -> ok end, Me ! {they_are, [receive X -> X end || _ <- [1, 2, 3]]} end),
    [Pid ! X || X <- [{M:t()}, [M:t()], M:t()]],
    true = code:delete(M),
    false = code:purge(M),
    garbage_collect(),
    Pid ! go,
    receive {they_are, L} -> L end.

dead(Terms) ->
    {Pid, Ref} = spawn_monitor(fun() -> receive never -> ok end end),
    [Pid ! T || T <- Terms],
    exit(Pid, kill),
    [Pid ! T || T <- Terms],
    receive {'DOWN', Ref, process, Pid, Why} -> ok end,
    [Pid ! T || T <- Terms],
    Why.
