%% Text of all planes through format, binaries and files.
-module(unicode_text_io).
-export([main/1]).

main(_) -> D = t:tmp(?MODULE), F = filename:join(D, "u"), S = "aé λ 日本 😀", io:format("~ts|~12ts|~-12ts|~.4ts|~n", [S, "é", "λ", S]), file:write_file(F, unicode:characters_to_binary(S)), {ok, H} = file:open(F, [read, {encoding, utf8}]), t:w(read, [io:get_chars(H, "", 3), io:get_line(H, "")]), file:close(H), {ok, W} = file:open(F, [write, {encoding, utf16}]), io:put_chars(W, S), file:close(W), t:w(utf16, file:read_file(F)), {ok, L} = file:open(F, [write]), t:w(latin, try io:put_chars(L, "λ") catch C:R -> {C, R} end), file:close(L), t:w(lengths, [length(S), byte_size(unicode:characters_to_binary(S)), string:length(S)]), [t:p(X, X) || X <- ["é", "λ", <<"é"/utf8>>, 'λ', [955, a]]], file:del_dir_r(D).
