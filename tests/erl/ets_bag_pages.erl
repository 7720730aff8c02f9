%% Pieces of what a bag holds under one key: the first piece has the newest objects. Elixir's Module.get_last_attribute/3
%% relies on it.
-module(ets_bag_pages).
-export([main/1]).

main(_) -> lists:foreach(fun of_type/1, [bag, duplicate_bag]).

of_type(Type) ->
    T = ets:new(t, [Type]),
    [ets:insert(T, {k, N}) || N <- lists:seq(1, 7)],
    ets:insert(T, {k, 3}),
    show(Type, T),
    ets:delete_object(T, {k, 3}),
    ets:insert(T, [{k, 3}, {k, 9}, {k, 8}]),
    show(changed, T),
    ets:safe_fixtable(T, true),
    ets:delete_object(T, {k, 4}),
    ets:insert(T, {k, 4}),
    show(fixed, T).

show(Label, T) ->
    t:w({Label, whole}, ets:select(T, spec())),
    [t:w({Label, N}, pieces(ets:select(T, spec(), N))) || N <- [1, 2, 3, 5, 20]],
    t:w({Label, match}, match(ets:match(T, {k, '$1'}, 3))).

spec() -> [{{k, '$1'}, [], ['$1']}].

pieces('$end_of_table') -> [];
pieces({Piece, Continuation}) -> [Piece | pieces(ets:select(Continuation))].

match('$end_of_table') -> [];
match({Piece, Continuation}) -> [Piece | match(ets:match(Continuation))].
