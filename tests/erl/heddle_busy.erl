%% A process that makes much and keeps little is not collected all the time while it works, and where it waits it has no more memory for that.
%% With a shared heap blocks are sized otherwise, so the same program only has to come to the same answers.
-module(heddle_busy).
-export([main/1]).

main(_) ->
    erts_debug:set_internal_state(available_internal_state, true),
    io:format("reversed ~w~n", [reversed(2000)]),
    io:format("spared ~p~n", [spared()]),
    io:format("waiting ~p~n", [waiting()]),
    io:format("kept ~p~n", [kept()]),
    io:format("limited ~p~n", [limited()]).

reversed(0) -> nrev(lists:seq(1, 30));
reversed(N) -> nrev(lists:seq(1, 30)), reversed(N - 1).

nrev([]) -> [];
nrev([H | T]) -> app(nrev(T), [H]).

app([], L) -> L;
app([H | T], L) -> [H | app(T, L)].

%% Two million words. With the smallest heap that is 12,000 collections, here some 500. A process that collects at every allocation, or has
%% slices of one reduction, is never full several times in one.
spared() ->
    P = spawn_link(fun worker/0),
    Before = collections(P),
    ask(P, 2000),
    (collections(P) - Before < 2000 orelse is_other()) andalso worked.

worker() ->
    receive {From, N} -> reversed(N), From ! {self(), done}, worker() end.

ask(P, N) ->
    P ! {self(), N},
    receive {P, done} -> ok end.

collections(P) ->
    {_, Figures} = process_info(P, garbage_collection),
    proplists:get_value(minor_gcs, Figures).

is_other() -> erlang:system_info(heap_type) =:= shared orelse os:getenv("HEDDLE_ZEAL", "") =/= "".

%% Again and again, as a server that gets a request now and then.
waiting() ->
    P = spawn_link(fun worker/0),
    lists:usort([begin ask(P, 20), is_small(words_when_waiting(P)) end || _ <- lists:seq(1, 100)]).

is_small(Words) when Words < 1000 -> small;
is_small(Words) -> case erlang:system_info(heap_type) of shared -> small; _ -> {words, Words} end.

%% (`process_info` says that it waits as soon as it answers from its `receive`, in a slice that is not over.)
words_when_waiting(P) ->
    case erts_debug:get_internal_state({process_status, P}) of
        waiting -> element(2, process_info(P, total_heap_size));
        _ -> erlang:yield(), words_when_waiting(P)
    end.

%% What lives goes from block to block: on the stack, in the dictionary, binaries beside the heap, floats and bignums, what came by message.
kept() ->
    Kept = kept_by(1),
    P = spawn_link(fun() -> put(kept, kept_by(2)), keeper(kept_by(1), []) end),
    [P ! {self(), N, kept_by(N)} || N <- lists:seq(1, 50)],
    [receive {P, N, Answer} -> Answer = {Kept, N} end || N <- lists:seq(1, 50)],
    P ! {self(), all},
    receive {P, All, InDictionary} -> All =:= [kept_by(N) || N <- lists:seq(50, 1, -1)] andalso InDictionary =:= kept_by(2) end.

keeper(Kept, All) ->
    receive
        {From, all} -> From ! {self(), All, get(kept)};
        {From, N, Message} -> From ! {self(), N, deep(10, Kept, N)}, keeper(Kept, [Message | All])
    end.

deep(0, Kept, N) -> reversed(60), {Kept, N};
deep(Depth, Kept, N) ->
    Float = Depth * 1.5,
    Answer = deep(Depth - 1, Kept, N),
    true = is_float(Float),
    Answer.

kept_by(N) -> {N * 1.25, 1 bsl (70 + N), binary:copy(<<N>>, 100), [N, {N, "text"}], #{N => value}}.

%% A limit is for what the process needs, so it does not grow beyond it for being busy.
limited() ->
    Limit = #{size => 2000, kill => true, error_logger => false},
    {_, Ref} = spawn_opt(fun() -> reversed(2000) end, [monitor, {max_heap_size, Limit}]),
    receive {'DOWN', Ref, process, _, Reason} -> Reason end.
