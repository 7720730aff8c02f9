%% `++` and list_to_tuple/1 with lists short and long: those above a slice's work are copied by another thread.
-module(list_copies).
-export([main/1]).

main(_) ->
    [one(N) || N <- [0, 1, 2, 3, 100, 33000]],
    Improper = lists:seq(1, 20000) ++ x,
    io:format("~p ~p~n", [x = lists:nthtail(20000, Improper), length(element(1, {lists:seq(1, 20000) ++ []}))]),
    [io:format("~p~n", [class(F)])
     || F <- [fun() -> Improper ++ [1] end, fun() -> Improper ++ [] end, fun() -> list_to_tuple(Improper) end,
              fun() -> id(x) ++ [1] end, fun() -> list_to_tuple(id(x)) end, fun() -> [1 | id(x)] ++ [] end]],
    io:format("~p ~p ~p~n", [id([]) ++ x, [1] ++ id(x), id([1, 2]) ++ id([3])]).

one(N) ->
    List = [{I, [I]} || I <- lists:seq(1, N)],
    Long = List ++ [last],
    Tuple = list_to_tuple(List),
    erlang:garbage_collect(),
    io:format("~p ~p ~p ~p ~p~n", [N, length(Long), lists:droplast(Long) =:= List, lists:last(Long), tuple_size(Tuple)]),
    io:format("~p ~p ~p~n", [tuple_to_list(Tuple) =:= List, erlang:phash2(Tuple), erlang:phash2(Long)]).

class(F) ->
    try F() of R -> {ok, R} catch C:R -> {C, R} end.

id(X) -> X.
