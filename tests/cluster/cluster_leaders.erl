%% Rounds of group leaders: a process of the other node writes and reads through one that is here.
-module(cluster_leaders).
-export([rounds/0, write/1, read/1]).
-import(cluster_chance, [some/1, pick/1]).
-import(cluster_round, [peer/0, worker/0, child/0, ask/2, right/3]).

rounds() -> [{leader_writes, fun writes/0}, {leader_reads, fun reads/0}, {leader_inherited, fun inherited/0}].

%% This process is the leader of a worker.
led() ->
    W = worker(),
    case some(3) of
        1 -> group_leader(self(), W);
        2 -> ask(W, {call, erlang, group_leader, [self(), W]});
        3 -> C = child(), ask(C, {call, erlang, group_leader, [self(), W]})
    end,
    right(leader, self(), ask(W, {call, erlang, group_leader, []})),
    W.

texts() -> [{pick(["~p~n", "~w ~ts~n"]), I, cluster_term:small(some(1 bsl 40))} || I <- lists:seq(1, some(8))].

text({"~p~n", _, X}) -> io_lib:format("~p~n", [X]);
text({Format, I, X}) -> io_lib:format(Format, [X, ["zeile ", integer_to_list(I), " äöü 猫"]]).

%% Called by the worker. What is read is text, as a list or a binary.
write(Texts) -> [io:put_chars(text(T)) || T <- Texts], written.

read(N) -> [case io:get_line("> ") of {error, _} = Error -> Error; Line -> unicode:characters_to_binary(Line) end || _ <- lists:seq(1, N)].

writes() ->
    W = led(),
    Texts = texts(),
    {Answer, Got, _} = serve(W, {call, ?MODULE, write, [Texts]}, []),
    right(leader, written, Answer),
    %% Funs are printed with numbers of the node.
    Expected = [unicode:characters_to_binary(text(T)) || T <- Texts],
    cluster_book:count(lines, length(Texts)),
    right(leader, without_numbers(Expected), without_numbers(Got)).

without_numbers(Texts) -> re:replace(Texts, <<"#Fun<[^>]*>">>, <<"#Fun">>, [global, {return, binary}, unicode]).

reads() ->
    W = led(),
    Lines = [<<"line ", (integer_to_binary(I))/binary, "\n">> || I <- lists:seq(1, some(5))],
    {Read, _, Left} = serve(W, {call, ?MODULE, read, [length(Lines)]}, Lines),
    right(leader, {Lines, []}, {Read, Left}).

%% A process has the leader of the one that started it, also on another node.
inherited() ->
    C = child(),
    group_leader(self(), C),
    P = ask(C, {call, erlang, spawn, [peer(), cluster_worker, init, [self()]]}),
    cluster_round:known(P),
    right(leader, self(), ask(P, {call, erlang, group_leader, []})),
    P2 = ask(P, {call, erlang, spawn, [cluster_worker, init, [self()]]}),
    cluster_round:known(P2),
    right(leader, self(), ask(P2, {call, erlang, group_leader, []})).

%% Asks the worker, and serves what it writes and reads meanwhile: {Answer, Written, Lines that were not read}.
serve(W, What, Lines) ->
    Ref = make_ref(),
    W ! {ask, self(), Ref, What},
    serve(Ref, Lines, [], erlang:monotonic_time(millisecond) + cluster_round:patience()).

serve(Ref, Lines, Written, Until) ->
    receive
        {io_request, From, As, Request} ->
            {Reply, Left, Added} = io(Request, Lines),
            From ! {io_reply, As, Reply},
            serve(Ref, Left, Added ++ Written, Until);
        {Ref, Answer} -> {Answer, lists:reverse(Written), Lines}
    after 200 ->
        cluster_round:is_steady() orelse throw(lost),
        case erlang:monotonic_time(millisecond) > Until of
            true -> cluster_book:broken(leader, written_or_read, nothing), throw(broken);
            false -> serve(Ref, Lines, Written, Until)
        end
    end.

io({put_chars, unicode, M, F, Args}, Lines) -> {ok, Lines, [unicode:characters_to_binary(apply(M, F, Args))]};
io({put_chars, unicode, Chars}, Lines) -> {ok, Lines, [unicode:characters_to_binary(Chars)]};
io({get_line, unicode, _}, [Line | Left]) -> {Line, Left, []};
io({get_line, unicode, _}, []) -> {eof, [], []};
io(_, Lines) -> {{error, request}, Lines, []}.
