%% What processes hold of the message area (+hmem hybrid): a process that is done with large messages does not keep them, whichever
%% process built them; one that forwards a message is not collected for it. With other heaps the same program shows the same.
-module(heddle_held).
-export([main/1]).

main(_) ->
    io:format("built ~p~n", [holds_little(fun(To) -> To ! {self(), list(1000, [])} end)]),
    L = lists:seq(1, 1000),
    io:format("copied ~p~n", [holds_little(fun(To) -> To ! {self(), L} end)]),
    io:format("builder ~p~n", [builder(40)]),
    io:format("kept ~p~n", [kept()]),
    io:format("again ~p~n", [again()]),
    Collections = [forwarded(list(N, [])) || N <- [100, 20000]],
    io:format("forwarded ~p~n", [are_near(Collections)]).

list(0, List) -> List;
list(N, List) -> list(N - 1, [42 | List]).

%% Twenty messages of 2,000 words and more, each thrown away.
holds_little(Send) ->
    P = spawn_link(fun consumer/0),
    [begin Send(P), receive {P, 1000} -> ok end end || _ <- lists:seq(1, 20)],
    Words = words_of_waiting(P),
    unlink(P),
    exit(P, kill),
    is_little(Words).

%% In words. Private heaps have room for two of them.
is_little(Words) when Words < 11000 -> little;
is_little(Words) -> {words, Words}.

consumer() ->
    receive {From, L} -> From ! {self(), length(L)}, consumer() end.

%% A process that collects at every allocation holds longer what it had when it did; and in a shared heap what is dead stays until all is collected.
words_of_waiting(P) ->
    IsSoon = os:getenv("HEDDLE_ZEAL", "") =:= "" andalso erlang:system_info(heap_type) =/= shared,
    IsSoon orelse erlang:garbage_collect(P),
    words_when_waiting(P).

words_when_waiting(P) ->
    case process_info(P, [status, total_heap_size]) of
        [{status, waiting}, {total_heap_size, Words}] -> Words;
        _ -> erlang:yield(), words_when_waiting(P)
    end.

%% A process that builds messages and gets small ones does not keep what others have thrown away.
builder(Times) ->
    Consumer = spawn_link(fun consumer/0),
    P = spawn_link(fun() -> builds(Consumer) end),
    [begin P ! {self(), build}, receive {P, built} -> ok end end || _ <- lists:seq(1, Times)],
    Words = words_of_waiting(P),
    [begin unlink(Q), exit(Q, kill) end || Q <- [P, Consumer]],
    is_little(Words).

builds(To) ->
    receive {From, build} -> To ! {self(), list(1000, [])} end,
    receive {To, 1000} -> From ! {self(), built} end,
    builds(To).

%% What is kept stays as it was.
kept() ->
    P = spawn_link(fun() -> keeper([]) end),
    [P ! {N, list(500 + N, [])} || N <- lists:seq(1, 100)],
    P ! {self(), all},
    receive {P, All} -> All =:= [{N, list(500 + N, [])} || N <- lists:seq(100, 1, -1)] end.

keeper(All) ->
    receive
        {From, all} when is_pid(From) -> From ! {self(), All};
        Kept -> keeper([Kept | All])
    end.

%% A list, and a tuple with one, that were just built on the heap and are sent many times: copied once. They stay as they were, also when
%% they get old in their sender, and after its end.
again() ->
    Me = self(),
    P = spawn_link(fun() -> Me ! {self(), again(Me)} end),
    receive {P, Kept} -> ok end,
    Got = [receive {N, Term} -> Term end || N <- lists:seq(1, 20)],
    erlang:garbage_collect(),
    Numbers = list(3000, []),
    {Kept =:= [Numbers, {Numbers, end_of}], lists:all(fun(T) -> T =:= Numbers orelse T =:= {Numbers, end_of} end, Got)}.

again(To) ->
    {Kept, Copied} = copied(fun() ->
        List = list(3000, []),
        [To ! {N, List} || N <- [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
        Tuple = {list(3000, []), end_of},
        [To ! {N, Tuple} || N <- [11, 12, 13, 14, 15, 16, 17, 18, 19, 20]],
        [List, Tuple]
    end),
    [garbage(N) || N <- lists:seq(1, 100)],
    case erlang:system_info(heap_type) =:= hybrid andalso os:getenv("HEDDLE_ZEAL", "") =:= "" of
        true when Copied > 20000 -> {copied, Copied};
        _ -> Kept
    end.

garbage(N) -> length(lists:seq(1, N)).

copied(F) ->
    #{words := Before} = heddle_stats:messages(),
    Result = F(),
    #{words := After} = heddle_stats:messages(),
    {Result, After - Before}.

%% Collections of a process that forwards this.
forwarded(List) ->
    Me = self(),
    P = spawn_link(fun() -> forwarder(Me) end),
    around(P, List, 200),
    P ! {self(), collections},
    receive {P, Count} -> Count end.

around(_, _, 0) -> ok;
around(P, List, Times) ->
    P ! List,
    receive Got when is_list(Got) -> around(P, Got, Times - 1) end.

forwarder(To) ->
    receive
        {From, collections} ->
            {garbage_collection, Info} = process_info(self(), garbage_collection),
            From ! {self(), proplists:get_value(minor_gcs, Info)};
        Message -> To ! Message, forwarder(To)
    end.

are_near([A, B]) ->
    case erlang:system_info(heap_type) of
        hybrid when abs(A - B) > 10 -> {A, B};
        _ -> near
    end.
