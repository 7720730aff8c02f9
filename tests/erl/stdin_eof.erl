%% Standard input that ends at once.
-module(stdin_eof).
-export([main/1]).

main(_) -> t:w(eof, [io:get_line(""), io:get_chars("", 1), io:read("")]).
