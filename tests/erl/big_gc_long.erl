%% Collections of large heaps run elsewhere (a dirty scheduler): the process goes on with all it had, registers and floats
%% included, and no one else waits for it meanwhile.
-module(big_gc_long).
-export([main/1, woken/1]).
main(_) ->
    L = lists:seq(1, 400000),
    t:w(floats, floats(L, t:id(0.5), [])),
    t:w(deep, deep(400000)),
    t:w(natives, natives(L, 40, 0)),
    t:w(bits, byte_size(bits(L, <<>>))),
    asked(), killed(), slept(),
    t:w(ticks, ticks()).

%% Heap checks with floats under way.
floats([X | Xs], F, Acc) ->
    A = X * F, B = A + 1.0, C = B * B - A,
    floats(Xs, F, [{A, B, [C]} | Acc]);
floats([], _, Acc) -> lists:foldl(fun({A, B, [C]}, S) -> S + A + B + C end, 0.0, Acc).

deep(0) -> 0;
deep(N) -> X = {N, [N]}, Y = deep(N - 1), element(1, X) - hd(element(2, X)) + Y + 1.

%% Natives that build beside the heap.
natives(_, 0, S) -> S;
natives(L, N, S) ->
    T = list_to_tuple(L), M = maps:from_list([{X, X} || X <- lists:sublist(L, 1000)]),
    natives(L, N - 1, S + tuple_size(T) + map_size(M) + length(tuple_to_list(T)) + length(lists:reverse(L, [a]))).

bits([X | Xs], B) -> Y = <<X:16>>, bits(Xs, <<B/binary, Y/binary>>);
bits([], B) -> B.

big() -> L = lists:seq(1, 1500000), receive {sum, P} -> P ! {self(), lists:sum(L)}, big(L) end.
big(L) ->
    receive
        {sum, P} -> P ! {self(), lists:sum(L)}, big(L);
        grow -> big(lists:map(fun(X) -> X + 1 end, L))
    end.
sum(P) -> P ! {sum, self()}, receive {P, S} -> S end.

asked() ->
    P = spawn_link(fun big/0),
    t:w(sum, sum(P)),
    [P ! grow || _ <- lists:seq(1, 3)],
    t:w(asked, [erlang:garbage_collect(P) || _ <- lists:seq(1, 5)]),
    t:w(async, [receive {garbage_collect, I, R} -> R end || T <- [major, minor], I <- [make_ref()],
                async =:= erlang:garbage_collect(P, [{async, I}, {type, T}])]),
    erlang:suspend_process(P),
    t:w(suspended, erlang:garbage_collect(P)),
    erlang:resume_process(P),
    t:w(sum, sum(P)),
    t:w(self, begin L = lists:seq(1, 1500000), erlang:garbage_collect(), lists:sum(L) end),
    unlink(P), exit(P, kill).

%% A process that asks for the collection of another, which ends meanwhile, hears that.
killed() ->
    Rs = [begin
              P = spawn(fun big/0),
              sum(P), I = make_ref(),
              [P ! grow || _ <- lists:seq(1, 3)],
              async = erlang:garbage_collect(P, [{async, I}]),
              exit(P, kill),
              receive {garbage_collect, I, R} -> is_boolean(R) end
          end || _ <- lists:seq(1, 5)],
    t:w(killed, lists:usort(Rs)).

slept() ->
    Me = self(),
    P = spawn(fun() -> L = lists:seq(1, 1500000), Me ! {self(), length(L)}, erlang:hibernate(?MODULE, woken, [[Me | L]]) end),
    receive {P, N} -> t:w(length, N) end,
    t:w(asleep, t:wait_until(fun() -> process_info(P, current_function) =:= {current_function, {erlang, hibernate, 3}} end)),
    P ! go,
    receive {P, S} -> t:w(slept, S) end.
woken([P | L]) -> receive go -> P ! {self(), lists:sum(L)} end.

%% A process beside one that grows, on the same scheduler, gets its turn.
ticks() ->
    Me = self(),
    spawn_opt(fun() -> N = length(grow(lists:seq(1, 100000), 5)), Me ! {grown, N} end, [link, {scheduler, 1}]),
    count(0).
count(N) -> receive {grown, G} -> {N > 3, G} after 1 -> count(N + 1) end.
grow(L, 0) -> L;
grow(L, N) -> grow([X + 1 || X <- L] ++ L, N - 1).
