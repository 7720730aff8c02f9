%% Trace messages over TCP: dbg's trace port and trace client (the driver trace_ip_drv), and dbg's files.
-module(trace_ports).
-export([main/1, work/1]).

main(_) ->
    commands(),
    clients(),
    full(),
    through_dbg(),
    files().

work(X) -> X.

load() ->
    Dir = filename:join([code:priv_dir(runtime_tools), "lib"]),
    erl_ddll:load_driver(Dir, "trace_ip_drv").

%% Command lines and requests that are refused.
commands() ->
    _ = load(),
    [p(Line, try port_close(open_port({spawn, "trace_ip_drv" ++ Line}, [eof])) catch C:R -> {C, R} end)
     || Line <- ["", " ", " 0", " 0 1", " 0 1 4", " 0 1 -1", " -1 1 1", " 0 -1 1", " x 1 1", " 0 1 1", " 0 1 3 more", "  0   1   2"]],
    Port = open_port({spawn, "trace_ip_drv 0 1000 2"}, [eof]),
    <<0, Number:16>> = port_control(Port, $p, <<>>),
    p("taken", try open_port({spawn, "trace_ip_drv " ++ integer_to_list(Number) ++ " 10 2"}, [eof]) catch C1:R1 -> {C1, R1} end),
    p("control", [try port_control(Port, Op, <<>>) catch C2:R2 -> {C2, R2} end || Op <- [$f, 0, $P]]),
    p("info", [erlang:port_info(Port, What) || What <- [queue_size, output]]),
    port_command(Port, "12345"),
    p("info", [erlang:port_info(Port, What) || What <- [queue_size, output]]),
    port_close(Port),
    p("closed", gen_tcp:connect("localhost", Number, [])).

open(Queue, Flags) ->
    Port = open_port({spawn, lists:concat(["trace_ip_drv 0 ", Queue, " ", Flags])}, [eof]),
    <<0, Number:16>> = port_control(Port, $p, <<>>),
    {Port, Number}.

connect(Number) ->
    {ok, Socket} = gen_tcp:connect("localhost", Number, [binary, {active, false}, {recbuf, 2000}]),
    Socket.

%% All that comes within a while, as the client of dbg reads it.
all(Socket) ->
    case gen_tcp:recv(Socket, 5, 300) of
        {ok, <<0, Size:32>>} -> {ok, Bytes} = recv(Socket, Size), [size(Bytes) | all(Socket)];
        {ok, <<1, Number:32>>} -> [{dropped, Number} | all(Socket)];
        {error, Reason} -> [Reason]
    end.

recv(_, 0) -> {ok, <<>>};
recv(Socket, Size) -> gen_tcp:recv(Socket, Size, 5000).

clients() ->
    [begin
         {Port, Number} = open(1000, Flags),
         [port_command(Port, lists:duplicate(N, N)) || N <- [1, 2, 3]],
         First = connect(Number),
         p({"before the client", Flags}, all(First)),
         [port_command(Port, lists:duplicate(N, N)) || N <- [0, 4, 5]],
         p({"with the client", Flags}, all(First)),
         Second = connect(Number),
         p("second", all(Second)),
         port_command(Port, "abcdef"),
         p("first", all(First)),
         gen_tcp:send(First, "what the client sends is ignored"),
         port_command(Port, "abcdef"),
         p("first", all(First)),
         gen_tcp:close(First),
         timer:sleep(100),
         port_command(Port, "between clients"),
         Third = connect(Number),
         p({"third", Flags}, all(Third)),
         port_close(Port),
         p("after the end", all(Third))
     end || Flags <- [0, 1, 2, 3]].

%% More messages than the queue takes.
full() ->
    %% A long queue: for a small one, stock does not clear the memory that it uses.
    {Port, Number} = open(2000, 2),
    [port_command(Port, lists:duplicate(N rem 3 + 1, N rem 256)) || N <- lists:seq(1, 2007)],
    Socket = connect(Number),
    {First, Last} = lists:split(1998, all(Socket)),
    p("dropped", {lists:usort(First), Last}),
    [port_command(Port, lists:duplicate(N, N)) || N <- [1, 2]],
    p("not dropped", all(Socket)),
    %% The client does not read: what fills its buffers is written, as many messages as the queue takes wait, the others are dropped.
    Large = binary:copy(<<"x">>, 20000),
    [port_command(Port, Large) || _ <- lists:seq(1, 4000)],
    All = all(Socket),
    Dropped = lists:sum([N || {dropped, N} <- All]),
    p("large", {length([S || S <- All, S =:= 20000]) + Dropped, Dropped > 500, lists:last(All)}),
    port_close(Port).

through_dbg() ->
    {ok, _} = dbg:tracer(port, dbg:trace_port(ip, {0, 1000})),
    {ok, Number} = dbg:trace_port_control(get_listen_port),
    Me = self(),
    Client = dbg:trace_client(ip, {"localhost", Number}, {fun(M, To) -> To ! {traced, M}, To end, Me}),
    {ok, _} = dbg:p(self(), [call]),
    {ok, _} = dbg:tp(?MODULE, work, 1, [{'_', [], [{return_trace}]}]),
    ?MODULE:work({some, "term", 1.5}),
    ?MODULE:work(second),
    p("traced", [receive {traced, M} -> setelement(2, M, me) after 5000 -> timeout end || _ <- [1, 2, 3, 4]]),
    Ref = monitor(process, Client),
    dbg:stop(),
    p("end", receive {traced, M} -> M after 300 -> timeout end),
    p("client", receive {'DOWN', Ref, process, Client, Reason} -> Reason after 5000 -> timeout end).

%% The same into files: one, and a set of them.
files() ->
    Dir = filename:join("/tmp", "trace_ports." ++ os:getpid()),
    ok = filelib:ensure_path(Dir),
    One = filename:join(Dir, "one"),
    Set = filename:join(Dir, "set"),
    [begin
         {ok, _} = dbg:tracer(port, dbg:trace_port(file, Spec)),
         {ok, _} = dbg:p(self(), [call]),
         {ok, _} = dbg:tp(?MODULE, work, 1, []),
         [?MODULE:work(N) || N <- lists:seq(1, 40)],
         ok = dbg:flush_trace_port(),
         dbg:stop(),
         Files = filelib:wildcard(filename:basename(Name) ++ "*", Dir),
         p({"files", Kind}, Files),
         Me = self(),
         dbg:trace_client(file, Reader, {fun(M, To) -> To ! {traced, M}, To end, Me}),
         p({"read", Kind}, read())
     end || {Kind, Name, Spec, Reader} <- [{one, One, One, One},
                                           {set, Set, {Set, wrap, ".trc", 500, 4}, {Set, wrap, ".trc", 500, 4}}]],
    ok = file:del_dir_r(Dir).

read() ->
    receive
        {traced, end_of_trace} -> [];
        {traced, {trace, _, call, {_, _, [N]}}} -> [N | read()];
        {traced, Other} -> [Other | read()]
    after 5000 -> [timeout]
    end.

p(What, Term) -> io:format("~p: ~p~n", [What, Term]).
