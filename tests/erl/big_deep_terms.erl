%% Terms nested very deep, of every kind that nests: compared, ordered, hashed, sent, encoded, stored, collected, printed.
-module(big_deep_terms).
-export([main/1]).

main(_) ->
    N = 100000,
    [kind(K, F) || {K, F} <- [{list, fun(X) -> list(N, X) end}, {tail, fun(X) -> tail(N, X) end}, {tuple, fun(X) -> tuple(N, X) end},
                              {map, fun(X) -> map(N, X) end}, {key, fun(X) -> key(200, X) end}]].

kind(Kind, Make) ->
    A = Make(x), B = Make(x), C = Make(y), Me = self(),
    P = fun(Label, Value) -> t:w({Kind, Label}, Value) end,
    P(equal, {A =:= B, A == B, A =:= C, A < C, C =< A}),
    P(hash, {erlang:phash2(A), erlang:phash2(C), erlang:phash2({A, B}) =:= erlang:phash2({B, A})}),
    P(size, {erts_debug:flat_size(A), erlang:external_size(A), byte_size(term_to_binary(A))}),
    P(decoded, [binary_to_term(Bin) =:= A || Bin <- [term_to_binary(A), term_to_binary(A, [compressed]), iolist_to_binary(term_to_iovec(A))]]),
    spawn(fun() -> Me ! {Kind, A} end),
    P(sent, receive {Kind, X} -> X =:= B end),
    {Q, M} = spawn_monitor(fun() -> exit(A) end),
    P(reason, receive {'DOWN', M, process, Q, R} -> R =:= B end),
    [begin
         T = ets:new(t, [Type]),
         true = ets:insert(T, [{k, A}, {A, v}, {C, w}]),
         P({ets, Type}, {ets:lookup_element(T, k, 2) =:= B, ets:member(T, B), ets:lookup_element(T, Make(y), 2)}),
         ets:delete(T)
     end || Type <- [set, ordered_set]],
    persistent_term:put(?MODULE, A),
    P(persistent, persistent_term:get(?MODULE) =:= B),
    persistent_term:erase(?MODULE),
    put(A, kept),
    P(dictionary, {get(B), erase(B), get(A)}),
    P(key, {maps:get(B, #{A => 1, C => 2}), maps:get(B, maps:from_list([{A, found} | [{I, I} || I <- lists:seq(1, 50)]]))}),
    P(sorted, length(lists:usort([C, A, B, C]))),
    P(collected, begin erlang:garbage_collect(), A =:= B end),
    P(printed, {iolist_size(io_lib:format("~w", [A])), iolist_size(io_lib:format("~P", [A, 20]))}).

list(0, T) -> T; list(N, T) -> list(N - 1, [T]).
tail(0, T) -> T; tail(N, T) -> tail(N - 1, [T | end_of]).
tuple(0, T) -> T; tuple(N, T) -> tuple(N - 1, {N, T, a}).
map(0, T) -> T; map(N, T) -> map(N - 1, #{N => T}).
key(0, T) -> T; key(N, T) -> key(N - 1, #{T => N}).
