%% A process that holds much of the message area (+hmem hybrid) and allocates has as much room as if it were on its heap, up to some 4,000 words: else
%% it would be collected all the time. With other heaps the same program shows the same.
-module(heddle_room).
-export([main/1]).

main(_) ->
    L = lists:seq(1, 20000),
    io:format("argument ~p~n", [collections(fun() -> work(rounds(), L) end)]),
    io:format("message ~p~n", [collections(fun() -> receive More -> work(rounds(), More) end end, L)]),
    io:format("nothing ~p~n", [block(spawn_link(fun() -> work(rounds(), [1]), receive stop -> ok end end))]).

collections(F) -> collections(F, none).

%% Of a process that runs F.
collections(F, Message) ->
    Me = self(),
    P = spawn_link(fun() -> receive go -> ok end, Me ! {self(), F()} end),
    erlang:trace(P, true, [garbage_collection]),
    P ! go,
    P ! Message,
    receive {P, 20000} -> ok; {P, Other} -> exit({other, Other}) end,
    Ref = erlang:trace_delivered(P),
    receive {trace_delivered, P, Ref} -> ok end,
    are_few(count(P, 0)).

count(P, N) ->
    receive
        {trace, P, What, _} when What =:= gc_minor_start; What =:= gc_major_start -> count(P, N + 1);
        {trace, P, _, _} -> count(P, N)
    after 0 -> N
    end.

%% Of 100 words each. A process that collects at every allocation does so in any case, and takes long.
rounds() -> case is_zealous() of true -> 1; false -> 2000 end.

is_zealous() -> os:getenv("HEDDLE_ZEAL", "") =/= "".

are_few(N) ->
    case N < 150 orelse is_zealous() of
        true -> few;
        false -> {many, N}
    end.

work(0, L) -> length(L);
work(N, L) ->
    1275 = lists:sum(list(50, [])),
    work(N - 1, L).

list(0, L) -> L;
list(N, L) -> list(N - 1, [N | L]).

%% A process that holds nothing has its small heap.
block(P) ->
    case process_info(P, [status, garbage_collection_info]) of
        [{status, waiting}, {_, Info}] ->
            is_small(proplists:get_value(heap_block_size, Info));
        _ -> erlang:yield(), block(P)
    end.

is_small(Words) ->
    case Words < 1000 orelse erlang:system_info(heap_type) =:= shared of
        true -> small;
        false -> {words, Words}
    end.
