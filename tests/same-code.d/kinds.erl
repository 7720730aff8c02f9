%% One function for each kind of code that the loader treats in its own way. kinds.beam is this, made by OTP 27's compiler:
%%
%%     erlc +no_line_info kinds.erl
-module(kinds).
-export([arithmetic/2, float/2, bits/1, build/2, receives/1, selects/1, tuples/1, big/0, literal/0, catches/1, tries/2, funs/1,
         maps/2, guards/2, bifs/3, comprehension/1, record/1, calls/2, strings/1, self_and_get/1]).
-record(state, {name, count = 0, rest = []}).

arithmetic(A, B) when A > 0, B =/= 7 -> ((A + B) * 3 - A div 2) band (B bsl 4) bor (A rem 5).
float(A, B) when is_float(A), is_float(B) -> math:sqrt(A * A + B * B) / 2.5.
bits(<<1:3, N:5, Size:16/little, F:64/float, Text:Size/binary, U/utf8, Rest/bitstring>>) -> {N, F, Text, U, Rest};
bits(<<"heddle", Rest/binary>>) -> Rest;
bits(<<A:24, B:24/signed, _/bits>>) -> A + B.
build(N, Rest) -> <<N:7, N:17/little, "abc", (N / 2):32/float, N/utf8, Rest/binary>>.
receives(Ref) ->
    receive
        {Ref, Answer} -> Answer;
        {'DOWN', Ref, _, _, Reason} -> exit(Reason)
    after 5000 -> self() ! {late, Ref}, receives(Ref)
    end.
selects(apple) -> 1;
selects(pear) -> 2;
selects(plum) -> 3;
selects(1) -> one;
selects(2) -> two;
selects(300) -> many;
selects(_) -> none.
tuples({A}) -> A;
tuples({A, B}) -> [A | B];
tuples({A, B, C}) -> setelement(2, {A, B, C}, x);
tuples([A, B | C]) -> {C, B, A}.
big() -> 123456789012345678901234567890.
literal() -> {[1, 2.5, <<"binary">>], #{key => "value"}, fun lists:map/2}.
catches(F) -> catch F().
tries(F, A) ->
    try F(A) of
        {ok, Value} -> Value
    catch
        throw:T -> {thrown, T};
        error:E:Stack -> erlang:raise(error, {wrapped, E}, Stack)
    after
        put(done, A)
    end.
funs(A) -> lists:map(fun(X) -> X + A end, [A, A]).
maps(#{a := A} = M, K) -> M#{b => A, K := 1, c => map_get(K, M)};
maps(M, K) when is_map_key(K, M) -> #{K => M}.
guards(A, B) when is_tuple(A), tuple_size(A) > 2; is_atom(B) orelse is_pid(B) -> true;
guards(A, B) when hd(A) =:= B; byte_size(A) == B -> A;
guards(A, B) -> A =< B andalso not is_function(A, 2).
bifs(A, B, C) -> {element(2, A), length(B), abs(C), B ++ C, erlang:phash2(A), is_list(B) and (A == C)}.
comprehension(L) -> [{X, Y} || X <- L, is_integer(X), <<Y>> <= <<X:32>>, Y > 0].
record(#state{count = N, rest = [_ | T]} = S) -> S#state{count = N + 1, rest = T}.
calls(M, F) -> M:F(), erlang:apply(M, F, [1]), local(F), io:format("~p", [F]).
local(F) -> F(1, 2).
strings(S) -> "text " ++ S.
self_and_get(K) -> {self(), get(K), get(), node(), put(K, 1)}.
