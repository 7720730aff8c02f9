%% Stream sockets whose owner gets messages: always, once, a number of times; ends and owners.
-module(tcp_active).
-export([main/1]).

main(_) ->
    process_flag(trap_exit, true),
    always(), once(), counted(), forms(), ends(), owners(), both_ways(), trailing().

pair(Options) ->
    {ok, L} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {active, false} | Options]),
    {ok, Port} = inet:port(L),
    {ok, A} = gen_tcp:connect({127, 0, 0, 1}, Port, [{active, false} | Options]),
    {ok, B} = gen_tcp:accept(L),
    gen_tcp:close(L),
    {A, B}.

next() -> receive M -> element(1, M) =:= tcp andalso element(3, M) after 300 -> nothing end.
message() -> receive M -> M after 300 -> nothing end.

always() ->
    {A, B} = pair([binary, {packet, 2}]),
    inet:setopts(B, [{active, true}]),
    [gen_tcp:send(A, integer_to_list(N)) || N <- [1, 2, 3]],
    t:w(always, [next(), next(), next(), next()]),
    t:w(no_receive, gen_tcp:recv(B, 0)),
    inet:setopts(B, [{active, false}]),
    gen_tcp:send(A, "4"),
    t:w(passive, {next(), gen_tcp:recv(B, 0)}),
    gen_tcp:close(A), gen_tcp:close(B).

once() ->
    {A, B} = pair([{packet, 1}]),
    inet:setopts(B, [{active, once}]),
    [gen_tcp:send(A, integer_to_list(N)) || N <- [1, 2, 3]],
    t:w(once, [next(), next(), inet:getopts(B, [active])]),
    inet:setopts(B, [{active, once}]),
    t:w(again, [next(), next()]),
    t:w(receive_it, gen_tcp:recv(B, 0)),
    gen_tcp:close(A), gen_tcp:close(B).

counted() ->
    {A, B} = pair([{packet, 1}]),
    inet:setopts(B, [{active, 2}]),
    t:w(count, inet:getopts(B, [active])),
    inet:setopts(B, [{active, 1}]),
    t:w(count, inet:getopts(B, [active])),
    [gen_tcp:send(A, integer_to_list(N)) || N <- lists:seq(1, 5)],
    t:w(counted, [next(), next(), next(), message(), message()]),
    inet:setopts(B, [{active, -3}]),
    t:w(none, message()),
    inet:setopts(B, [{active, 5}]),
    t:w(more, [next(), next(), next(), inet:getopts(B, [active])]),
    t:w(too_many, inet:setopts(B, [{active, 32767}])),
    gen_tcp:close(A), gen_tcp:close(B).

forms() ->
    [begin
         {A, B} = pair([{packet, 1} | Options]),
         inet:setopts(B, [{active, once}]),
         gen_tcp:send(A, "hello"),
         t:w(Options, message()),
         gen_tcp:close(A), gen_tcp:close(B)
     end || Options <- [[list], [binary], [binary, {header, 2}], [binary, {header, 9}], [{deliver, port}], [binary, {deliver, port}]]].

ends() ->
    {A, B} = pair([]),
    inet:setopts(B, [{active, true}]),
    gen_tcp:send(A, "bye"),
    gen_tcp:close(A),
    t:w(closed, [message(), message(), message(), erlang:port_info(B)]),
    {A1, B1} = pair([{exit_on_close, false}]),
    inet:setopts(B1, [{active, once}]),
    gen_tcp:shutdown(A1, write),
    t:w(half, [message(), message(), gen_tcp:send(B1, "still"), gen_tcp:recv(A1, 0)]),
    gen_tcp:close(B1), gen_tcp:close(A1),
    t:flush(),
    {A2, B2} = pair([]),
    gen_tcp:close(A2),
    inet:setopts(B2, [{active, once}]),
    t:w(later, [message(), message(), message()]),
    t:flush().

owners() ->
    {A, B} = pair([binary]),
    Me = self(),
    Pid = spawn(fun Loop() -> receive {tcp, _, Data} -> Me ! {got, Data}, Loop(); Other -> Me ! {other, Other}, Loop() end end),
    t:w(give, gen_tcp:controlling_process(B, Pid)),
    inet:setopts(B, [{active, true}]),
    gen_tcp:send(A, "to another"),
    t:w(got, message()),
    t:w(not_ours, gen_tcp:controlling_process(B, Me)),
    exit(Pid, kill),
    t:w(owner_died, gen_tcp:recv(A, 0, 1000)),
    gen_tcp:close(A),
    t:flush().

%% Two processes send each other numbers, as fast as they can.
both_ways() ->
    {A, B} = pair([binary, {packet, 4}, {nodelay, true}]),
    Me = self(),
    Play = fun(S) -> fun() ->
        receive go -> ok end,
        Loop = fun F(Sum) -> receive
                                 {tcp, S, <<2000:32>>} -> Me ! {sum, Sum};
                                 {tcp, S, <<N:32>>} -> ok = gen_tcp:send(S, <<(N + 1):32>>), F(Sum + N);
                                 {tcp_closed, S} -> Me ! {sum, Sum}
                             end end,
        inet:setopts(S, [{active, true}]),
        Loop(0) end end,
    [P, Q] = [spawn(Play(S)) || S <- [A, B]],
    ok = gen_tcp:controlling_process(A, P),
    ok = gen_tcp:controlling_process(B, Q),
    P ! go, Q ! go,
    ok = gen_tcp:send(A, <<1:32>>),
    t:w(sums, lists:sum([receive {sum, S} -> S end || _ <- [1, 2]])).

%% Much data to an active socket, then the end: the end comes last.
trailing() ->
    {A, B} = pair([binary]),
    spawn(fun() -> ok end),
    Data = binary:copy(<<"x">>, 3000000),
    {Pid, _} = spawn_monitor(fun() -> receive go -> gen_tcp:send(A, Data), gen_tcp:close(A) end end),
    gen_tcp:controlling_process(A, Pid),
    inet:setopts(B, [{active, true}]),
    Pid ! go,
    Loop = fun F(Size) -> receive {tcp, B, D} -> F(Size + byte_size(D)); {tcp_closed, B} -> {closed, Size} after 5000 -> {nothing, Size} end end,
    t:w(trailing, Loop(0)).
