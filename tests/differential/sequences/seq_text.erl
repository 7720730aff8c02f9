%% Characters and text: unicode, string, re, io_lib, erl_scan, uri_string, json, atoms.
-module(seq_text).
-export([step/0, init/0, run/3, done/1]).

init() -> ok.
done(_) -> ok.

step() -> case seq_value:below(6) of
              0 -> {{re, run}, [subject(), pattern(), options()], any};
              1 -> {{re, seq_value:one({run, replace, split, run_compiled})}, [subject(), pattern(), seq_value:one({<<"[&]">>, <<"\\1x">>, <<"\\g{1}">>, "y", global})], bin};
              2 -> {format, [format(), [seq_value:arg(any) || _ <- lists:seq(1, seq_value:below(4))]], chars};
              _ -> seq_calls:step(calls())
          end.

subject() -> seq_value:one({seq_value:arg(bin), seq_value:arg(str), seq_value:arg(chars), "abcabc", <<"aab aab\nabb\r\nxyz">>, "The quick brown fox", <<"a,b,,c">>, "foo=bar; baz=1"}).

%% Patterns from pieces: many are odd and some are wrong.
pattern() ->
    Pieces = pieces(),
    %% Stock looks for a second "b" where only the assertion wants one: `re:run("b", "(?=b)(a)?b")` is nomatch.
    case string:find(Pieces, "(?=b)") of
        nomatch -> Pieces;
        _ -> lists:flatten(string:replace(Pieces, "b", "[bq]", all))
    end.

pieces() ->
    lists:flatten([seq_value:one({"a", "b", "(a|ab)", "[a-c]", "[^b]", ".", "\\d", "\\w+", "\\s", "(b*)", "(?:c)", "x?", "a{1,2}", "^", "$", "\\b", "(?<n>a)", "(?=b)", "(?!c)", "(?<=a)", "+", "*", "(", ")",
                                  "[", "]", "|", "\\1", "(?i)", "a*?", "a++", "\\x{e4}", "ä", "\\R", "\\h", "(?>ab)", "[[:alpha:]]", ",", "\\Q.\\E", "(?#c)", "\\p{L}", "(a)?b"})
                   || _ <- lists:seq(1, 1 + seq_value:below(5))]).

options() ->
    [seq_value:one({global, caseless, multiline, dotall, extended, anchored, ungreedy, unicode, firstline, notempty, notempty_atstart, notbol, noteol, dollar_endonly, no_auto_capture, dupnames, ucp, report_errors,
                    {capture, all}, {capture, first}, {capture, none}, {capture, all_but_first, list}, {capture, [1], binary}, {capture, all, binary}, {capture, [n], list}, {capture, all_names, binary}, {offset, seq_value:below(5)},
                    {newline, seq_value:one({lf, cr, crlf, any, anycrlf})}, bsr_anycrlf, bsr_unicode, {match_limit, 100}, {match_limit_recursion, 50}})
     || _ <- lists:seq(1, seq_value:below(4))].

format() ->
    lists:flatten([seq_value:one({"~p", "~w", "~s", "~ts", "~tp", "~tw", "~c", "~tc", "~b", "~B", "~x", "~.16b", "~.2#", "~+", "~e", "~f", "~g", "~n", "~~", "~10p", "~.5s", "~10.4s", "~-8s|", "~*c", "~P", "~W", "~i", "~0p", "~lp", "~kp", "text", "~8..0b", "~5w", "~q", "~", "~tkp", "~.36B"})
                   || _ <- lists:seq(1, 1 + seq_value:below(4))]).

calls() ->
    Direction = {one, {leading, trailing, both, all}},
    {{unicode, characters_to_list, [any], any}, {unicode, characters_to_list, [chars], any}, {unicode, characters_to_list, [bin, encoding], any}, {unicode, characters_to_binary, [chars], bin}, {unicode, characters_to_binary, [{some, any}], bin},
     {unicode, characters_to_binary, [bin, encoding, encoding], bin}, {unicode, characters_to_binary, [chars, encoding, encoding], bin}, {unicode, characters_to_nfc_list, [chars], chars}, {unicode, characters_to_nfd_list, [chars], chars},
     {unicode, characters_to_nfkc_binary, [chars], bin}, {unicode, characters_to_nfkd_list, [chars], chars}, {unicode, bom_to_encoding, [bin], any},
     {string, length, [chars], int}, {string, length, [bin], int}, {string, to_graphemes, [chars], list}, {string, reverse, [chars], chars}, {string, reverse, [bin], any}, {string, uppercase, [chars], chars}, {string, uppercase, [bin], bin}, {string, lowercase, [chars], chars},
     {string, titlecase, [chars], chars}, {string, casefold, [chars], chars}, {string, slice, [chars, small, small], chars}, {string, slice, [bin, small], bin}, {string, trim, [chars, {one, {both, leading, trailing}}], chars}, {string, trim, [str], str},
     {string, split, [chars, chars, Direction], any}, {string, split, [bin, bin, Direction], any}, {string, split, [str, str], any}, {string, lexemes, [chars, chars], any}, {string, find, [chars, chars], any}, {string, find, [bin, bin, {one, {leading, trailing}}], any},
     {string, replace, [str, str, str, Direction], any}, {string, pad, [chars, count], any}, {string, pad, [str, count, {one, {both, leading, trailing}}, {one, {$x, "yz"}}], any}, {string, equal, [chars, chars, bool], bool}, {string, equal, [chars, bin, bool, {one, {none, nfc, nfkd}}], bool},
     {string, next_grapheme, [chars], any}, {string, next_codepoint, [bin], any}, {string, prefix, [chars, chars], any}, {string, take, [chars, chars], any}, {string, nth_lexeme, [chars, small, chars], any}, {string, jaro_similarity, [chars, chars], float}, {string, is_empty, [any], bool},
     {string, to_integer, [str], any}, {string, to_float, [str], any}, {io_lib, write, [any], any}, {io_lib, print, [any], any}, {io_lib, write_string, [chars], any}, {io_lib, write_atom, [atom], any}, {io_lib, printable_list, [list], bool}, {io_lib, char_list, [list], bool},
     {erl_scan, string, [str], any}, {io_lib, fread, [{one, {"~d", "~s ~d", "~c", "~u", "~8#", "~f"}}, str], any}, {uri_string, parse, [chars], any}, {uri_string, percent_decode, [bin], any}, {uri_string, quote, [chars], any}, {uri_string, normalize, [bin], any},
     {json, decode, [bin], any}, {json, encode, [any], any}, {erlang, list_to_atom, [chars], atom}, {erlang, binary_to_atom, [bin], atom}, {erlang, binary_to_atom, [bin, {one, {latin1, utf8, unicode}}], atom}, {erlang, atom_to_binary, [atom], bin}, {erlang, atom_to_binary, [atom, {one, {latin1, utf8}}], bin}, {erlang, atom_to_list, [atom], chars},
     {filename, join, [chars, chars], any}, {filename, split, [bin], any}, {base64, encode_to_string, [bin], str},
     {re, compile, [chars], any}, {erlang, decode_packet, [{one, {http, httph, http_bin, httph_bin, line, 1, 2, 4, raw, asn1, sunrm, cdr, fcgi, tpkt, 0}}, bin, {exact, []}], any}}.

%% Stock's re:run raises internal_error, which no `catch` sees, where the offset lies after the subject.
run({re, run}, [S, P, Options], State) when is_list(Options) ->
    Bytes = try iolist_size(S) catch error:badarg -> 0 end,
    {re:run(S, P, [case O of {offset, N} -> {offset, min(N, Bytes)}; _ -> O end || O <- Options]), State};
run({re, run_compiled}, [S, P, _], State) -> case re:compile(P, [unicode]) of {ok, Compiled} -> {re:run(S, Compiled, [global, {capture, all, binary}]), State}; Error -> {Error, State} end;
run({re, run}, [S, P, _], State) -> {re:run(S, P), State};
run({re, replace}, [S, P, global], State) -> {re:replace(S, P, "-", [global, {return, binary}]), State};
run({re, replace}, [S, P, R], State) -> {re:replace(S, P, R, [{return, binary}, unicode]), State};
run({re, split}, [S, P, global], State) -> {re:split(S, P, [trim]), State};
run({re, split}, [S, P, _], State) -> {re:split(S, P, [group]), State};
run({re, compile}, [P], State) -> case re:compile(P) of {ok, {re_pattern, N, U, C, _}} -> {{N, U, C}, State}; Error -> {Error, State} end;
run(format, [Format, Arguments], State) -> {lists:flatten(io_lib:format(Format, Arguments)), State};
run(Call, Arguments, State) -> seq_calls:run(Call, Arguments, State).
