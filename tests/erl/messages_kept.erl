%% Messages that are kept, forwarded, taken apart and put into others, whatever the heaps are like: what processes share, if they
%% share it, no process changes, and nothing of it goes while a process refers to it.
-module(messages_kept).
-export([main/1, relay/1]).

main(_) ->
    [io:format("~p ~p~n", [Name, F()])
     || {Name, F} <- [{forwarded, fun forwarded/0}, {parts, fun parts/0}, {nested, fun nested/0}, {many, fun many/0},
                      {literals, fun literals/0}, {binaries, fun binaries/0}, {maps, fun maps/0}, {funs, fun funs/0},
                      {arguments, fun arguments/0}, {forgotten, fun forgotten/0}]].

collect() -> erlang:garbage_collect(self(), [{type, minor}]), erlang:garbage_collect().

relay(Next) -> receive {go, X} -> Next ! {go, X}, relay(Next) end.

chain(N) -> lists:foldl(fun(_, Next) -> spawn_link(?MODULE, relay, [Next]) end, self(), lists:seq(1, N)).

%% One message through fifty processes, a hundred times.
forwarded() ->
    First = chain(50),
    Message = {go, {lists:seq(1, 100), make_ref(), <<"small">>, 1.5, 1 bsl 100, self()}},
    lists:all(fun(_) -> First ! Message, receive {go, _} = Back -> collect(), Back =:= Message end end, lists:seq(1, 100)).

%% Of each message a small part is kept; the rest goes.
parts() ->
    First = chain(3),
    Kept = [begin
                First ! {go, {lists:seq(1, 50), {part, N, [N, integer_to_list(N)]}}},
                receive {go, {_, Part}} -> collect(), Part end
            end || N <- lists:seq(1, 200)],
    collect(),
    Kept =:= [{part, N, [N, integer_to_list(N)]} || N <- lists:seq(1, 200)].

%% Messages in messages, deeper and deeper; then only the innermost stays.
nested() ->
    First = chain(2),
    Deep = lists:foldl(fun(N, In) ->
                               First ! {go, {N, lists:duplicate(20, N), In}},
                               receive {go, Out} -> collect(), Out end
                       end, bottom, lists:seq(1, 300)),
    Depth = fun Down(bottom, D) -> D; Down({N, L, In}, D) -> true = length(L) =:= 20 andalso hd(L) =:= N, Down(In, D + 1) end,
    300 = Depth(Deep, 0),
    {_, _, {_, List, _}} = Deep,
    collect(),
    List =:= lists:duplicate(20, 299).

%% A message that is made of many others.
many() ->
    First = chain(2),
    Parts = [begin First ! {go, lists:seq(N, N + 30)}, receive {go, L} -> L end end || N <- lists:seq(1, 40)],
    Some = lists:sublist(Parts, 7),
    First ! {go, {Parts, Some}},
    receive {go, {All, Few}} -> collect(), {All =:= [lists:seq(N, N + 30) || N <- lists:seq(1, 40)], Few =:= Some} end.

%% Literals in messages on their way, which are given up meanwhile.
literals() ->
    Value = [{N, integer_to_binary(N)} || N <- lists:seq(1, 100)],
    First = chain(20),
    Results = [begin
                   persistent_term:put(?MODULE, {Round, Value}),
                   First ! {go, {persistent_term:get(?MODULE), lists:seq(1, 30)}},
                   receive {go, {_, _} = Got} -> ok end,
                   [First ! {go, Got} || _ <- lists:seq(1, 5)],
                   persistent_term:erase(?MODULE),
                   Back = [receive {go, G} -> G end || _ <- lists:seq(1, 5)],
                   collect(),
                   lists:all(fun(G) -> G =:= {{Round, Value}, lists:seq(1, 30)} end, [Got | Back])
               end || Round <- lists:seq(1, 20)],
    lists:usort(Results).

%% A process that appends to a binary that it was sent has its own.
binaries() ->
    Large = binary:copy(<<"0123456789">>, 30),
    Me = self(),
    Grown = <<Large/binary, "grown">>,
    Pids = [spawn_link(fun() -> receive {go, B, Pad} ->
                                        <<_:50/binary, Part:100/binary, _/binary>> = B,
                                        collect(),
                                        Longer = lists:foldl(fun(_, A) -> <<A/binary, I>> end, B, lists:seq(1, 50)),
                                        Me ! {I, Part, Longer, Pad}
                                end end) || I <- lists:seq(1, 10)],
    [P ! {go, Grown, lists:seq(1, 20)} || P <- Pids],
    Answers = [receive {I, Part, Longer, Pad} -> collect(), {Part, Longer, Pad} end || I <- lists:seq(1, 10)],
    Own = <<Grown/binary, "mine">>,
    {Answers =:= [{binary:part(Large, 50, 100), <<Grown/binary, (binary:copy(<<I>>, 50))/binary>>, lists:seq(1, 20)} || I <- lists:seq(1, 10)],
     Own =:= <<Large/binary, "grownmine">>}.

maps() ->
    First = chain(2),
    Small = maps:from_list([{N, {N}} || N <- lists:seq(1, 20)]),
    Big = maps:from_list([{N, [N]} || N <- lists:seq(1, 200)]),
    First ! {go, {Small, Big}},
    receive {go, {S, B}} -> ok end,
    S2 = S#{5 => five, new => key},
    B2 = maps:remove(17, B#{18 => other}),
    Merged = maps:merge(#{N => x || N <- lists:seq(1, 20)}, S),
    collect(),
    {S =:= Small, B =:= Big, maps:size(S2), maps:get(5, S2), maps:size(B2), maps:get(18, B2), maps:get(18, B), Merged =:= Small}.

funs() ->
    First = chain(2),
    Data = lists:seq(1, 50),
    First ! {go, fun(X) -> {X, lists:sum(Data)} end},
    receive {go, F} -> collect(), F(1) end.

%% Arguments of spawn that were messages.
arguments() ->
    First = chain(1),
    First ! {go, lists:seq(1, 64)},
    receive {go, L} -> ok end,
    Me = self(),
    Pids = [spawn_link(fun() -> collect(), Me ! {self(), [N | L]} end) || N <- lists:seq(1, 20)],
    lists:all(fun({P, N}) -> receive {P, Got} -> Got =:= [N | lists:seq(1, 64)] end end, lists:zip(Pids, lists:seq(1, 20))).

%% What no process refers to any more is given back, also by processes that only wait.
forgotten() ->
    First = chain(10),
    Round = fun() -> First ! {go, lists:seq(1, 10_000)}, receive {go, L} -> length(L) end end,
    [Round() || _ <- lists:seq(1, 20)],
    Before = erlang:memory(processes),
    [Round() || _ <- lists:seq(1, 300)],
    erlang:memory(processes) - Before < 40_000_000.
