%% Processes that call in and out of a module, of which versions are loaded and purged meanwhile: none is ended for that, and nothing
%% keeps a soft purge from its work. (One that waits for its turn may stand in what became old just now: it is let go on.)
-module(code_purge_callers).
-export([main/1, leaf/0, deep/1, tail/0, through_fun/0]).

-define(CODE, code_purge_callers_code).

main(_) ->
    Versions = {version(1), version(2)},
    load(1, Versions),
    [io:format("~p: ~p~n", [Name, rounds(Name, Args, Versions)]) || {Name, Args} <- [{leaf, []}, {deep, [0]}, {tail, []}, {through_fun, []}]],
    code:purge(?CODE),
    code:delete(?CODE),
    code:purge(?CODE).

rounds(Name, Args, Versions) ->
    %% On the other scheduler, if there is one, and a crowd.
    Callers = [spawn(?MODULE, Name, Args) || _ <- [1, 2, 3]],
    Refused = [N || N <- lists:seq(1, 30), not one_round(N, Versions)],
    Alive = [is_process_alive(P) || P <- Callers],
    [exit(P, kill) || P <- Callers],
    {Alive, Refused}.

one_round(N, Versions) ->
    Soft = code:soft_purge(?CODE),
    load(N, Versions),
    case N rem 3 of
        0 ->
            code:purge(?CODE),
            code:delete(?CODE),
            code:purge(?CODE),
            load(N, Versions);
        1 ->
            code:purge(?CODE);
        2 ->
            ok
    end,
    Soft.

load(N, Versions) ->
    code:purge(?CODE),
    {module, _} = code:load_binary(?CODE, "none", element(N rem 2 + 1, Versions)).

leaf() ->
    try ?CODE:leaf() catch error:undef -> ok end,
    leaf().

deep(N) ->
    try ?CODE:local(20) + ?CODE:calls(100) catch error:undef -> ok end,
    deep(N + 1).

tail() ->
    try ?CODE:local(50) catch error:undef -> ok end,
    tail().

through_fun() ->
    try F = ?CODE:a_fun(), lists:map(F, [1, 2, 3]) catch error:_ -> ok end,
    through_fun().

version(V) ->
    Text = [
        "-module(" ++ atom_to_list(?CODE) ++ ").",
        "-export([leaf/0, local/1, calls/1, a_fun/0]).",
        "leaf() -> VERSION.",
        "local(0) -> VERSION; local(N) -> local(N - 1).",
        "calls(N) -> lists:sum(lists:seq(1, N)) + VERSION.",
        "a_fun() -> fun(X) -> X + VERSION end."
    ],
    Forms = [form(re:replace(T, "VERSION", integer_to_list(V), [{return, list}])) || T <- Text],
    {ok, _, Beam} = compile:forms(Forms),
    Beam.

form(Text) ->
    {ok, Tokens, _} = erl_scan:string(Text),
    {ok, Form} = erl_parse:parse_form(Tokens),
    Form.
