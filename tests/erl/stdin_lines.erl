%% Standard input by lines, terms and characters.
-module(stdin_lines).
-export([main/1]).

main(_) ->
    t:w(line, io:get_line("")), t:w(term, io:read("")), t:w(fread, io:fread("", "~d ~s")), t:w(chars, io:get_chars("", 5)), t:w(rest, lines()), t:w(eof, io:get_line("")).
lines() -> case io:get_line("") of eof -> []; L -> [L | lines()] end.
