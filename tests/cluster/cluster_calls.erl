%% Rounds of requests with answers: gen_server, rpc, erpc, echoes of terms of all kinds. It is also the server `cluster_calls` of a node.
-module(cluster_calls).
-behaviour(gen_server).
-export([rounds/0, start_link/0, init/1, handle_call/3, handle_cast/2, handle_info/2, fail/2, wait/2, wait_told/3]).
-import(cluster_chance, [some/1, once_in/1, pick/1, shuffle/1]).
-import(cluster_round, [peer/0, worker/0, ask/2, right/3, fence/0]).

rounds() ->
    [{call, fun calls/0}, {call_timeout, fun timeouts/0}, {call_requests, fun requests/0}, {cast, fun casts/0}, {multi_call, fun multi/0}, {rpc, fun rpc/0}, {erpc, fun erpc/0},
     {erpc_failures, fun failures/0}, {echo, fun echo/0}].

%% ---- the server ----

start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).

init([]) -> {ok, #{}}.

handle_call({echo, X}, _, Notes) -> {reply, X, Notes};
handle_call({later, Ms, X}, From, Notes) -> spawn(fun() -> wait(Ms, ok), gen_server:reply(From, X) end), {noreply, Notes};
handle_call({notes, Key}, _, Notes) -> {reply, lists:reverse(maps:get(Key, Notes, [])), maps:remove(Key, Notes)}.

handle_cast({note, Key, X}, Notes) -> {noreply, Notes#{Key => [X | maps:get(Key, Notes, [])]}};
handle_cast({forget, Key}, Notes) -> {noreply, maps:remove(Key, Notes)}.

handle_info(_, Notes) -> {noreply, Notes}.

%% ---- what is called on the other node ----

wait(Ms, X) -> receive after Ms -> X end.

%% Until the process that is called for lets it go on, or has ended: how busy a computer is plays no part.
wait_told(Caller, Ref, X) ->
    M = monitor(process, Caller),
    Caller ! {Ref, self()},
    receive {Ref, go_on} -> X; {'DOWN', M, process, _, _} -> X end.

fail(Class, Reason) -> erlang:Class(Reason).

%% ---- rounds ----

server() -> {?MODULE, peer()}.

term() -> cluster_term:make(some(1 bsl 40)).

%% The answer must be the expected one. What the end of a connection makes of a call is lost.
answer(Expected, Call) ->
    cluster_book:count(calls),
    right(call, {value, Expected}, outcome(Call)).

outcome(Call) -> try {value, Call()} catch Class:Reason -> {Class, Reason} end.

calls() ->
    [begin
         X = term(),
         answer(X, fun() -> gen_server:call(server(), pick([{echo, X}, {later, some(5), X}]), pick([infinity, cluster_round:patience()])) end)
     end || _ <- lists:seq(1, some(5))].

%% Either the answer or a timeout; an answer that comes too late is no message.
timeouts() ->
    [begin
         X = {cluster, some(1 bsl 40)},
         case outcome(fun() -> gen_server:call(server(), {later, some(8) - 1, X}, some(8)) end) of
             {exit, {timeout, {gen_server, call, _}}} -> cluster_book:count(call_timeouts);
             Outcome -> right(call, {value, X}, Outcome)
         end
     end || _ <- lists:seq(1, some(6))],
    wait(10, ok),
    answer(x, fun() -> gen_server:call(server(), {echo, x}) end).

%% Several under way, answered in any order.
requests() ->
    Xs = [{I, cluster_term:small(some(1 bsl 40))} || I <- lists:seq(1, some(8))],
    Ids = lists:foldl(fun({I, X}, Ids) -> gen_server:send_request(server(), {later, some(5), X}, I, Ids) end, gen_server:reqids_new(), Xs),
    Answers = collect(Ids, cluster_round:patience()),
    right(call, lists:sort([{I, {reply, X}} || {I, X} <- Xs]), lists:sort(Answers)).

collect(Ids, Patience) ->
    case gen_server:receive_response(Ids, Patience, true) of
        {Answer, I, Left} -> [{I, Answer} | collect(Left, Patience)];
        no_request -> [];
        timeout -> [timeout]
    end.

%% Casts and a call of one process arrive in order.
casts() ->
    Key = self(),
    Xs = [{I, cluster_term:small(I)} || I <- lists:seq(1, some(20))],
    [ok = gen_server:cast(server(), {note, Key, X}) || X <- Xs],
    answer(Xs, fun() -> gen_server:call(server(), {notes, Key}, cluster_round:patience()) end).

multi() ->
    X = cluster_term:small(some(1 bsl 40)),
    Nodes = shuffle([node(), peer()]),
    case gen_server:multi_call(Nodes, ?MODULE, {echo, X}) of
        {Replies, []} -> right(call, lists:sort([{N, X} || N <- Nodes]), lists:sort(Replies));
        Other -> right(call, all_replies, Other)
    end.

rpc() ->
    X = term(),
    case some(6) of
        1 -> answer(X, fun() -> rpc:call(peer(), ?MODULE, wait, [some(5), X]) end);
        2 -> answer(X, fun() -> rpc:yield(rpc:async_call(peer(), ?MODULE, wait, [some(5), X])) end);
        3 -> answer({[X, X], []}, fun() -> rpc:multicall(shuffle([node(), peer()]), ?MODULE, wait, [0, X]) end);
        4 -> answer(X, fun() -> rpc:block_call(peer(), ?MODULE, wait, [0, X]) end);
        5 ->
            case outcome(fun() -> rpc:call(peer(), ?MODULE, cluster_no_function, [X]) end) of
                {value, {badrpc, {'EXIT', {undef, [_ | _]}}}} -> ok;
                Outcome -> right(call, undef, Outcome)
            end;
        6 -> too_late({value, {badrpc, timeout}}, fun(Args) -> rpc:call(peer(), ?MODULE, wait_told, Args, some(20)) end)
    end.

erpc() ->
    X = term(),
    case some(5) of
        1 -> answer(X, fun() -> erpc:call(peer(), fun() -> X end) end);
        2 -> answer(X, fun() -> erpc:call(peer(), ?MODULE, wait, [some(5), X], infinity) end);
        3 -> answer(X, fun() -> erpc:receive_response(erpc:send_request(peer(), ?MODULE, wait, [some(5), X])) end);
        4 -> answer([{ok, X}, {ok, X}], fun() -> erpc:multicall(shuffle([node(), peer()]), ?MODULE, wait, [some(5), X]) end);
        5 ->
            Ref = make_ref(),
            Me = self(),
            erpc:cast(peer(), fun() -> Me ! {Ref, X} end),
            right(call, X, cluster_round:await({answer, Ref}))
    end.

failures() ->
    Reason = {cluster, cluster_term:small(some(1 bsl 40))},
    case some(4) of
        1 -> failure({error, {exception, Reason}}, fail, [error, Reason]);
        2 -> failure({exit, {exception, Reason}}, fail, [exit, Reason]);
        3 -> failure({throw, Reason}, fail, [throw, Reason]);
        4 -> too_late({error, {erpc, timeout}}, fun(Args) -> erpc:call(peer(), ?MODULE, wait_told, Args, some(20)) end)
    end.

%% What is called waits until the call has ended.
too_late(Expected, Call) ->
    Ref = make_ref(),
    cluster_book:count(calls),
    right(call, Expected, outcome(fun() -> Call([self(), Ref, x]) end)),
    cluster_round:await({answer, Ref}) ! {Ref, go_on}.

failure(Expected, F, Args) ->
    right(call, Expected, case outcome(fun() -> erpc:call(peer(), ?MODULE, F, Args) end) of
        {error, {exception, Reason, [_ | _]}} -> {error, {exception, Reason}};
        Outcome -> Outcome
    end).

%% Terms there and back; among them pids, references and ports, which know where they come from.
echo() ->
    W = worker(),
    Theirs = ask(W, {call, cluster_term, unique, []}),
    Terms = [term() || _ <- lists:seq(1, some(4))] ++ [cluster_term:unique(), Theirs],
    [begin
         right(altered, X, ask(W, {call, cluster_calls, wait, [0, X]})),
         right(altered, erlang:phash2(X), ask(W, {call, erlang, phash2, [X]})),
         cluster_book:count(terms)
     end || X <- shuffle(Terms)],
    [true = node(P) =:= peer() || [P | _] <- [Theirs]],
    once_in(4) andalso fence().
