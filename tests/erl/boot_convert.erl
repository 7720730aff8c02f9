%% Conversions that need only natives.
-module(boot_convert).
-export([main/1]).

main(_) ->
    [erlang:display(X) || X <- [atom_to_list(id(abc)), list_to_atom(id("xyz")), integer_to_list(id(-120)), list_to_integer(id("77")),
        integer_to_binary(id(1 bsl 80)), binary_to_integer(id(<<"-9">>)), integer_to_list(id(255), 16), float(id(3)), trunc(id(3.7)), round(id(-2.5)),
        ceil(id(1.2)), floor(id(-1.2)), atom_to_binary(id(q)), binary_to_atom(id(<<"w">>)), tuple_to_list({1}), float_to_list(id(1.5), [short])]],
    ok.
id(X) -> X.
