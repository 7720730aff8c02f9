%% Literals of text, and comparing and taking them apart.
-module(boot_strings).
-export([main/1]).

main(_) ->
    [erlang:display(X) || X <- ["abc", [$a | "bc"], "x" ++ "y", <<"abc">>, 'quoted Atom', "", [955], hd("z")]],
    ok.
