%% load_nif/2 over the life of a module: load, upgrade, purge, and what is refused with which text (tests/nif/nif_upgrade.c).
-module(nif_upgrade).
-export([main/1]).

main(_) ->
    put(code, code()),
    new_code(),
    p("before", nif_upgraded:version()),
    [p("refused", without_path(nif_upgraded:load(file(F), Info)))
     || {F, Info} <- [{"nif_upgrade", 17}, {"nif_upgrade_3", x}, {"nif_upgrade_4", 0}]],
    p("no file", element(1, element(2, nif_upgraded:load(file("nothing"), x)))),
    p("a file name", [catched(fun() -> nif_upgraded:load(F, x) end) || F <- [1, atom, [a | b]]]),
    p("still", nif_upgraded:version()),
    p("load", nif_upgraded:load(file("nif_upgrade"), x)),
    p("told", received()),
    p("version", nif_upgraded:version()),
    p("again", nif_upgraded:load(file("nif_upgrade"), x)),
    Old = nif_upgraded:as_fun(),
    new_code(),
    p("new code without a library", {nif_upgraded:version(), Old()}),
    p("refused upgrade", nif_upgraded:load(file("nif_upgrade_2"), 18)),
    p("nothing changed", {nif_upgraded:version(), Old()}),
    p("upgrade", nif_upgraded:load(file("nif_upgrade_2"), x)),
    p("told", received()),
    p("both", {nif_upgraded:version(), Old()}),
    p("nifs", nif_upgraded:module_info(nifs)),
    true = code:soft_purge(nif_upgraded) orelse code:purge(nif_upgraded),
    p("purged", received()),
    p("version", nif_upgraded:version()),
    code:delete(nif_upgraded),
    p("deleted", received()),
    code:purge(nif_upgraded),
    p("purged", received()),
    new_code(),
    p("loaded anew", {nif_upgraded:load(file("nif_upgrade"), x), nif_upgraded:version(), received()}).

file(Name) -> filename:join(os:getenv("HEDDLE_TEST_NIFS"), Name).

without_path({error, {Kind, Text}}) -> {error, {Kind, re:replace(Text, "/[^ ]*/", "", [{return, list}])}};
without_path(Other) -> Other.

code() ->
    Lines = ["-module(nif_upgraded).", "-export([version/0, load/2, as_fun/0]).", "-nifs([version/0]).", "version() -> body.",
             "load(F, I) -> erlang:load_nif(F, I).", "as_fun() -> fun() -> version() end."],
    Forms = [begin {ok, Tokens, _} = erl_scan:string(L), {ok, Form} = erl_parse:parse_form(Tokens), Form end || L <- Lines],
    {ok, nif_upgraded, Code} = compile:forms(Forms, []),
    Code.

new_code() -> {module, nif_upgraded} = erlang:load_module(nif_upgraded, get(code)).

received() -> receive M -> [M | received()] after 200 -> [] end.

catched(F) -> try F() catch C:R -> {C, R} end.

p(What, Value) -> io:format("~tp: ~tkp~n", [What, Value]).
