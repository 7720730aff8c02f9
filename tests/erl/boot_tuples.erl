%% Natives on tuples.
-module(boot_tuples).
-export([main/1]).

main(_) ->
    T = list_to_tuple([a, b, c]),
    [erlang:display(X) || X <- [tuple_size(T), element(2, T), setelement(2, T, z), erlang:append_element(T, d),
        erlang:make_tuple(3, x), erlang:delete_element(1, T), erlang:insert_element(4, T, e), tuple_to_list(T), T]],
    ok.
