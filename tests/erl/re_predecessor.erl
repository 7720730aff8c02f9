%% Patterns mean what they mean to the library that stock has, where the newer one that we have takes them otherwise
%% (docs/re-differences.md); and patterns from a generator match alike. main([show, Group]) prints what a group comes to.
-module(re_predecessor).
-export([main/1]).

main([show, G]) -> [io:format("~0p ~0p~n", [C, outcome(C)]) || C <- group(G)];
main([many, From, To]) -> [io:format("~b ~b~n", [G, erlang:phash2([outcome(C) || C <- group(G)])]) || G <- lists:seq(From, To)];
main(_) ->
    [t:w(P, [outcome({P, O, S, RO}) || S <- Subjects, RO <- [[], [notempty_atstart], [global]]]) || {P, O, Subjects} <- patterns()],
    [t:w(P, compiled(P)) || P <- refused()],
    [t:w({group, G}, erlang:phash2([outcome(C) || C <- group(G)])) || G <- lists:seq(1, 20)].

compiled(P) ->
    case re:compile(P) of
        {ok, {re_pattern, Groups, _, _, _}} -> {ok, Groups};
        {error, Error} -> Error
    end.

outcome({P, O, S, RO}) ->
    try
        case re:compile(P, O) of
            {ok, M} -> re:run(S, M, [{match_limit, 20000} | RO]);
            _ -> refused
        end
    catch
        _:R -> {failed, R}
    end.

patterns() ->
    %% Groups that refer to themselves are atomic.
    [{"((1)\\1|a*?)", [], ["aa", "1", "11", ""]}, {"(a\\1?){4}", [], ["aaaaaaaaaa", "aaaa", "aaa"]}, {"(a|b\\1)+", [], ["aba", "abaaba", "ababa"]}, {"(?<n>a|ab\\k<n>)(c|bcd)(d*)", [], ["abcd", "abacd"]},
     {"(a\\g{-1}?b?)c", [], ["abc", "ac", "aabc"]}, {"(?:(a)|b\\1)+", [], ["aba", "b"]}, {"((a|b\\2)+)c", [], ["abac"]}, {"(a*\\1?)a", [], ["aaaa"]},
     %% These braces are no quantifiers.
     {"a{,2}", [], ["aa", "a{,2}", ""]}, {"a{ 1, 2 }", [], ["aa", "a{ 1, 2 }"]}, {"a{1 }b?", [], ["aa", "a{1 }b"]}, {"a{,}", [], ["a{,}", "a"]}, {"[{,2}]+", [], ["{,2}"]}, {"\\Q{,2}\\E", [], ["{,2}"]}, {"x{,2}{2}", [], ["x{,2}}"]},
     {"a{ 2}", [extended], ["aa", "a{2}"]}, {"\\x{61}{,1}", [], ["a{,1}", "a"]},
     %% Properties of case know case, whatever the options.
     {"\\p{Lu}+", [caseless], ["aBc"]}, {"\\P{Lu}+", [caseless], ["aBc"]}, {"\\p{^Ll}", [caseless], ["aBc"]}, {"(?i)\\p{Lt}|x", [unicode], ["aX"]}, {"\\p{L}+", [caseless], ["aB1"]}, {"\\p{Lu}{2}", [caseless, unicode], ["abAB"]},
     %% Letters beyond ASCII.
     {"\\w+", [], [<<"a", 228, "b">>]}, {"\\w+", [unicode], [<<"a", 195, 164, "b">>]}, {"\\w+", [unicode, ucp], [<<"a", 195, 164, "b">>]}, {"(?i)\344", [], [<<228>>, <<196>>]}, {"\\s+", [], [<<" ", 11, 133, 160>>]}, {"[[:punct:]]+", [unicode, ucp], [<<"a$+<=>^`|~!">>]},
     {"^\\X", [unicode], [<<"e", 204, 129, "x">>]}, {"\\h+", [], [<<"a", 160, " ">>]}, {"$", [], ["a\n", "\n\n"]}, {"a\\Kb", [], ["ab"]}, {"(?|(a)|(b))\\1", [], ["bb", "ab"]}, {"a(*THEN)b|ac", [], ["ac"]}, {"\\8", [], ["8"]}, {"\\81", [], ["81"]}, {"(?<=ab?)c", [], ["abc"]}].

refused() ->
    ["(a)\\2(?!b)", "(?<=\\R)a", "\\2{2,}", "\\1ab", "\\g{1}x", "\\g1{,2}", "a(*ACCEPT)+", "(*FAIL){2}", "(*COMMIT){1,2}", "(*PRUNE)??", "a(*foo)b", "a(*foo:x)b", "(*pla:a)", "(*atomic:a)", "(*napla:a)", "a(*", "a(*)", "a(*f",
     "(?+", "(?+)", "(?C\"x\")", "a(?C{b})", "(?C5)a", "(?C256)", "[\\N]", "(?<=a\\1)(b)", "(?<!b{2}\\1)", "(?<=a|bc)d", "(?<=a+)b", "(?<=(a|bc))d", "(?<=a{2,3})b", "\\N{U+41}", "\\N{2}", "\\N{,2}", "\\L", "\\U", "\\Ea", "\\Q", "a{2,1}", "a{65536}",
     "a{65535}", "[b-a]", "[\\d-z]", "[a-\\d]", "[[:foo:]]", "[[.a.]]", "[[=a=]]", "(?<n>a)(?<n>b)", "(?<1n>a)", "(?<n", "(?P<n>a)(?P=m)", "\\k<m>", "(?&m)", "(?1)", "(?(1)a)", "(?(m)a)", "(?(1)a|b|c)", "(?(?a)b)", "(?(DEFINE)a|b)", "\\c", "\\x{110000}",
     "\\x{zz}", "\\o{8}", "\\o", "\\p{Foo}", "\\p", "(?z)", "(?r)a", "(?ia)b", "(*NO_JIT)a", "(*LIMIT_HEAP=5)a", "(?", "(?#a", ")", "(", "[", "[a", "*", "+a", "?", "a**", "a***", "a{1}{2}{3}", "(?i", "(?i-", "(?^)", "(?n)a", "(?xx)a", "(?<n>a)(?'n'b)", "(*UTF8)a", "(*UCP)a", "(*LIMIT_MATCH=5)a", "(*NOTEMPTY)a"].

%% 100 patterns on three subjects each.
group(G) -> {L, _} = lists:mapfoldl(fun(_, S) -> one(S) end, 104729 * G + 3, lists:seq(1, 100)), lists:append(L).

%% Numbers from a linear congruential generator: the same everywhere.
next(S) -> (S * 6364136223846793005 + 1442695040888963407) band 16#ffffffffffffffff.
pick(L, S) -> {lists:nth(1 + (S bsr 33) rem length(L), L), next(S)}.
one(S0) ->
    {N, S1} = pick([1,2,3,4,5], S0),
    {P0, S2} = seq(N, 2, S1),
    P = lists:flatten(P0),
    {O, S3} = pick([[], [], [], [caseless], [multiline], [dotall], [extended], [ungreedy], [anchored], [dollar_endonly], [firstline], [dupnames], [{newline, crlf}], [{newline, anycrlf}], [no_auto_capture], [unicode], [unicode, ucp], [bsr_anycrlf]], S2),
    {RO, S4} = pick([[], [], [notempty], [notempty_atstart], [global], [{offset, 1}], [notbol, noteol], [{capture, all, list}]], S3),
    {Subjects, S5} = lists:mapfoldl(fun(_, S) -> subject(S) end, S4, [1, 2, 3]),
    {[{P, O, X, RO} || X <- Subjects], S5}.
subject(S) -> {N, S1} = pick([0, 1, 2, 3, 5, 8], S), {L, S2} = lists:mapfoldl(fun(_, T) -> pick(["a", "b", "ab", "aa", "c", "\n", "\r\n", "1", "_", " ", "A", "abc"], T) end, S1, lists:seq(1, N)), {iolist_to_binary(["b", L]), S2}.
seq(N, D, S) -> lists:mapfoldl(fun(_, T) -> item(D, T) end, S, lists:seq(1, N)).
item(D, S) ->
    {A, S1} = atom(D, S),
    {Q, S2} = pick(["", "", "", "", "*", "+", "?", "*?", "+?", "??", "*+", "++", "?+", "{2}", "{1,2}", "{0}", "{0,1}?", "{,2}", "{2,}", "{2,1}"], S1),
    {[A, Q], S2}.
atom(D, S) ->
    {K, S1} = pick(["a", "b", "a", "b", "ab", ".", "^", "$", "\\b", "\\B", "\\d", "\\w", "\\s", "\\R", "\\N", "\\A", "\\z", "\\Z", "\\G", "\\K", "\\h", "\\v", "\\1", "\\2", "\\3", "\\g{-1}", "\\g1", "\\k<n>", "[ab]", "[^a]", "[a-c]", "[[:alpha:]]", "[\\w-a]", "[a", "\\x61", "\\x{61}", "\\o{141}", "\\Q.\\E", "\\Qa", "(*COMMIT)", "(*PRUNE)", "(*SKIP)", "(*THEN)", "(*FAIL)", "(*ACCEPT)", "|", "|", "(?i)", "(?-i)", "(?s)", "(?m)", "(?x)", "(?J)", "#", ")", "(", "\\8", "\\9", "\\c", "\\e", "\\X", "\\C", "\\pL", "\\p{Lu}", "\\u", "\\y", "(?#x)",
       g, g, g, g, g, g], S),
    case K of
        g when D > 0 ->
            {Open, S2} = pick(["(", "(", "(", "(?:", "(?<n>", "(?P<m>", "(?'n'", "(?>", "(?=", "(?!", "(?<=", "(?<!", "(?|", "(?i:", "(?(1)", "(?(2)", "(?(?=a)", "(?(<n>)", "(*", "(?<1>", "(?P=n", "(?C1"], S1),
            {N, S3} = pick([0, 1, 1, 2, 2, 3], S2),
            {In, S4} = seq(N, D - 1, S3),
            {Close, S5} = pick([")", ")", ")", ")", ")", ")", ")", ")", ""], S4),
            {[Open, In, Close], S5};
        g -> {"a", S1};
        _ -> {K, S1}
    end.
