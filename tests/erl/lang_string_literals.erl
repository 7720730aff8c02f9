%% Escapes, concatenation, sigils and triple-quoted strings.
-module(lang_string_literals).
-export([main/1]).

main(_) ->
    t:w(escapes, "\b\d\e\f\n\r\s\t\v\"\'\\\^a\x41\x{3bb}\101\0"), t:w(adjacent, "ab" "cd"), t:w(chars, [$a, $\n, $\s, $\x41, $\\, $"]),
    t:w(sigils, {~"bin", ~s"str", ~S"raw\n", ~B"raw\t", ~b[brackets]}), t:w(utf8, {~"é", <<"é"/utf8>>, <<"é">>}),
    t:w(triple, """
      first
        second "quoted"
      third
      """), t:w(macro, {?MODULE, ?LINE, ?FUNCTION_NAME, ?FUNCTION_ARITY, ?OTP_RELEASE >= 27}).
